// When workers may be started again after they failed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PoolError } from '../../shared/errors/pool-errors.js'
import { RestartPolicy } from './restart-policy.js'

const error = new PoolError('ERR_LIDO_TEST', 'it failed')

/** The first of these moments, in ms after `from`, at which a worker may be started. */
function pauseFrom(policy: RestartPolicy, from: number): number {
  let pauseMs = 0
  while (!policy.maySpawn(from + pauseMs)) pauseMs++
  return pauseMs
}

describe('the restart policy', () => {
  test('a worker may be started while none has failed', () => {
    assert.equal(new RestartPolicy().maySpawn(0), true)
    assert.equal(new RestartPolicy().lastError, null)
  })

  test('failed starts pause at once, twice as long each time, up to a second', () => {
    const policy = new RestartPolicy()
    const pauses: number[] = []
    for (let now = 1000; pauses.length < 7; now += 5000) {
      policy.onFailure(false, error, now)
      pauses.push(pauseFrom(policy, now))
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1000, 1000, 1000])
  })

  test('three ends of ready workers without work are free, the fourth pauses', () => {
    const policy = new RestartPolicy()
    const pauses: number[] = []
    for (let end = 0; end < 5; end++) {
      policy.onFailure(true, error, 1000)
      pauses.push(pauseFrom(policy, 1000))
    }
    assert.deepEqual(pauses, [0, 0, 0, 100, 200])
  })

  test('a task answered makes good for all failures', () => {
    const policy = new RestartPolicy()
    for (let failure = 0; failure < 4; failure++) policy.onFailure(false, error, 1000)
    assert.equal(policy.maySpawn(1000), false)
    policy.onWorkDone()
    assert.equal(policy.maySpawn(1000), true)
    policy.onFailure(false, error, 2000)
    assert.equal(pauseFrom(policy, 2000), 100)
  })

  test('what the last start died of is remembered', () => {
    const policy = new RestartPolicy()
    const later = new PoolError('ERR_LIDO_TEST', 'it failed again')
    policy.onFailure(false, error, 0)
    policy.onFailure(false, later, 0)
    assert.equal(policy.lastError, later)
  })
})
