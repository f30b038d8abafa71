// When workers may be started again after they failed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RestartLimitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { RestartPolicy } from './restart-policy.js'

const error = new WorkerStartError(7, { filename: '/h.js', name: 'default' }, 'load', new Error('it failed'))
const settings = { failures: 3, period: 1000, pause: 500 }

/** The first of these moments, in ms after `from`, at which a worker may be started. */
function pauseFrom(policy: RestartPolicy, from: number): number {
  let pauseMs = 0
  while (!policy.maySpawn(from + pauseMs)) pauseMs++
  return pauseMs
}

/** A policy whose circuit has opened at 1000. */
function opened(): RestartPolicy {
  const policy = new RestartPolicy(settings)
  for (let failure = 0; failure < settings.failures; failure++) policy.onFailure(false, error, 1000)
  assert.equal(policy.circuit.state, 'open')
  return policy
}

describe('pauses between starts', () => {
  test('a worker may be started while none has failed', () => {
    assert.equal(new RestartPolicy().maySpawn(0), true)
    assert.equal(new RestartPolicy().refusal(0, 0), null)
  })

  test('failed starts pause at once, twice as long each time, up to a second', () => {
    const policy = new RestartPolicy({ ...settings, failures: Number.POSITIVE_INFINITY })
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

  test('a task answered makes good for ends without work', () => {
    const policy = new RestartPolicy()
    for (let end = 0; end < 4; end++) policy.onFailure(true, error, 1000)
    assert.equal(policy.maySpawn(1000), false)
    policy.onWorkDone()
    assert.equal(policy.maySpawn(1000), true)
  })

  test('a task answered by a worker that lives is no reason to try a file that does not load', () => {
    const policy = new RestartPolicy()
    policy.onFailure(false, error, 1000)
    policy.onFailure(true, error, 1000)
    policy.onWorkDone()
    assert.equal(pauseFrom(policy, 1000), 100)
  })

  test('a start that succeeds makes good for starts that failed', () => {
    const policy = new RestartPolicy()
    policy.onFailure(false, error, 1000)
    policy.onFailure(false, error, 2000)
    policy.onStarted()
    policy.onFailure(false, error, 9000)
    assert.equal(pauseFrom(policy, 9000), 100)
  })
})

describe('the circuit', () => {
  test('opens at the last of so many failures within the period', () => {
    const policy = new RestartPolicy(settings)
    for (const now of [1000, 1500, 2000]) {
      assert.equal(policy.circuit.state, 'closed')
      policy.onFailure(false, error, now)
    }
    assert.equal(policy.circuit.state, 'open')
    assert.equal(pauseFrom(policy, 2000), 500)
  })

  test('stays closed while the failures are further apart', () => {
    const policy = new RestartPolicy(settings)
    for (const now of [1000, 1600, 2201, 2802]) policy.onFailure(false, error, now)
    assert.equal(policy.circuit.state, 'closed')
  })

  test('does not open for workers that were ready', () => {
    const policy = new RestartPolicy(settings)
    for (let end = 0; end < 9; end++) policy.onFailure(true, error, 1000)
    assert.equal(policy.circuit.state, 'closed')
  })

  test('stays open where a start fails that had begun before', () => {
    const policy = opened()
    policy.onFailure(false, error, 1000)
    assert.equal(policy.circuit.state, 'open')
  })

  test('is closed when what failed is said to be mended, also while one is tried', () => {
    const policy = opened()
    policy.onSpawn()
    policy.reset()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(1000)], ['closed', true])
  })

  test('lets one worker be tried when its pause is over, and no second', () => {
    const policy = opened()
    assert.equal(policy.maySpawn(1499), false)
    assert.equal(policy.maySpawn(1500), true)
    policy.onSpawn()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(9999)], ['halfOpen', false])
  })

  test('is closed by a start that succeeds, and then forgets', () => {
    const policy = opened()
    policy.onSpawn()
    policy.onStarted()
    assert.equal(policy.circuit.state, 'closed')
    policy.onFailure(false, error, 1500)
    assert.deepEqual([policy.circuit.state, pauseFrom(policy, 1500)], ['closed', 100])
  })

  test('opens for twice as long each time the one that is tried fails, up to half a minute', () => {
    const policy = opened()
    const pauses: number[] = []
    for (let now = 100_000; pauses.length < 8; now += 100_000) {
      policy.onSpawn()
      policy.onFailure(false, error, now)
      pauses.push(pauseFrom(policy, now))
    }
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  test('lets another be tried when the one that was tried is given up', () => {
    const policy = opened()
    policy.onSpawn()
    policy.onStartAborted()
    assert.equal(policy.maySpawn(1500), true)
  })

  test('is closed when the operator says that the file is mended', () => {
    const policy = opened()
    policy.reset()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(1000)], ['closed', true])
  })
})

describe('what a call is told while no worker may be started', () => {
  test('what the last start failed of, while the circuit is closed', () => {
    const policy = new RestartPolicy(settings)
    policy.onFailure(false, error, 1000)
    const refusal = policy.refusal(1050, 1050)
    assert.ok(refusal instanceof WorkerStartError)
    assert.equal(refusal.cause, error.cause)
    assert.notEqual(refusal, error)
  })

  test('the limit, its figures and the cause, while it is open', () => {
    const refusal = opened().refusal(1100, 1100)
    assert.ok(refusal instanceof RestartLimitError)
    assert.deepEqual(
      [refusal.code, refusal.failures, refusal.period, refusal.retryAfter, refusal.workerId],
      ['ERR_LIDO_RESTART_LIMIT', 3, 1000, 400, 7],
    )
    assert.equal((refusal.cause as WorkerStartError).cause, error.cause)
  })

  test('what the start failed of, to a call that had waited for it', () => {
    assert.ok(opened().refusal(999, 1000) instanceof WorkerStartError)
  })
})
