import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RestartLimitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { RestartPolicy } from './restart-policy.js'

const error = new WorkerStartError(7, { filename: '/h.js', name: 'default' }, 'load', new Error('it failed'))
const settings = { failures: 3, period: 1000, pause: 500 }

/** The time in ms after `from` until a worker may start. */
function pauseFrom(policy: RestartPolicy, from: number): number {
  let pauseMs = 0
  while (!policy.maySpawn(from + pauseMs)) pauseMs++
  return pauseMs
}

/** A policy whose circuit opened at 1000 ms. */
function opened(): RestartPolicy {
  const policy = new RestartPolicy(settings)
  for (let failure = 0; failure < settings.failures; failure++) policy.onFailure(false, error, 1000)
  assert.equal(policy.circuit.state, 'open')
  return policy
}

describe('pauses between starts', () => {
  test('a worker may start while no worker has failed', () => {
    assert.equal(new RestartPolicy().maySpawn(0), true)
    assert.equal(new RestartPolicy().refusal(0, 0), null)
  })

  test('each failed start doubles the pause, from 100 ms up to 1 s', () => {
    const policy = new RestartPolicy({ ...settings, failures: Number.POSITIVE_INFINITY })
    const pauses: number[] = []
    for (let now = 1000; pauses.length < 7; now += 5000) {
      policy.onFailure(false, error, now)
      pauses.push(pauseFrom(policy, now))
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1000, 1000, 1000])
  })

  test('exits of ready workers without answered tasks cause a pause from the fourth exit on', () => {
    const policy = new RestartPolicy()
    const pauses: number[] = []
    for (let end = 0; end < 5; end++) {
      policy.onFailure(true, error, 1000)
      pauses.push(pauseFrom(policy, 1000))
    }
    assert.deepEqual(pauses, [0, 0, 0, 100, 200])
  })

  test('an answered task ends the pause after exits of ready workers', () => {
    const policy = new RestartPolicy()
    for (let end = 0; end < 4; end++) policy.onFailure(true, error, 1000)
    assert.equal(policy.maySpawn(1000), false)
    policy.onWorkDone()
    assert.equal(policy.maySpawn(1000), true)
  })

  test('an answered task does not end the pause after a failed start', () => {
    const policy = new RestartPolicy()
    policy.onFailure(false, error, 1000)
    policy.onFailure(true, error, 1000)
    policy.onWorkDone()
    assert.equal(pauseFrom(policy, 1000), 100)
  })

  test('a successful start resets the pause to 100 ms', () => {
    const policy = new RestartPolicy()
    policy.onFailure(false, error, 1000)
    policy.onFailure(false, error, 2000)
    policy.onStarted()
    policy.onFailure(false, error, 9000)
    assert.equal(pauseFrom(policy, 9000), 100)
  })
})

describe('the restart circuit', () => {
  test('the circuit opens when the failed starts within the period reach the limit', () => {
    const policy = new RestartPolicy(settings)
    for (const now of [1000, 1500, 2000]) {
      assert.equal(policy.circuit.state, 'closed')
      policy.onFailure(false, error, now)
    }
    assert.equal(policy.circuit.state, 'open')
    assert.equal(pauseFrom(policy, 2000), 500)
  })

  test('the circuit stays closed when the failed starts are spread over more than the period', () => {
    const policy = new RestartPolicy(settings)
    for (const now of [1000, 1600, 2201, 2802]) policy.onFailure(false, error, now)
    assert.equal(policy.circuit.state, 'closed')
  })

  test('the circuit does not open for exits of workers that were ready', () => {
    const policy = new RestartPolicy(settings)
    for (let end = 0; end < 9; end++) policy.onFailure(true, error, 1000)
    assert.equal(policy.circuit.state, 'closed')
  })

  test('the circuit stays open when a start fails that was under way when the circuit opened', () => {
    const policy = opened()
    policy.onFailure(false, error, 1000)
    assert.equal(policy.circuit.state, 'open')
  })

  test('reset() closes the circuit during a trial start', () => {
    const policy = opened()
    policy.onSpawn()
    policy.reset()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(1000)], ['closed', true])
  })

  test('the circuit allows one trial start after its pause, and no second one', () => {
    const policy = opened()
    assert.equal(policy.maySpawn(1499), false)
    assert.equal(policy.maySpawn(1500), true)
    policy.onSpawn()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(9999)], ['halfOpen', false])
  })

  test('a successful trial start closes the circuit and clears its failures', () => {
    const policy = opened()
    policy.onSpawn()
    policy.onStarted()
    assert.equal(policy.circuit.state, 'closed')
    policy.onFailure(false, error, 1500)
    assert.deepEqual([policy.circuit.state, pauseFrom(policy, 1500)], ['closed', 100])
  })

  test('each failed trial start doubles the pause of the circuit, up to 30 s', () => {
    const policy = opened()
    const pauses: number[] = []
    for (let now = 100_000; pauses.length < 8; now += 100_000) {
      policy.onSpawn()
      policy.onFailure(false, error, now)
      pauses.push(pauseFrom(policy, now))
    }
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  test('the circuit allows another trial start when a trial start is aborted', () => {
    const policy = opened()
    policy.onSpawn()
    policy.onStartAborted()
    assert.equal(policy.maySpawn(1500), true)
  })

  test('reset() closes an open circuit', () => {
    const policy = opened()
    policy.reset()
    assert.deepEqual([policy.circuit.state, policy.maySpawn(1000)], ['closed', true])
  })
})

describe('RestartPolicy.refusal()', () => {
  test('a call gets a new WorkerStartError with the last cause while the circuit is closed', () => {
    const policy = new RestartPolicy(settings)
    policy.onFailure(false, error, 1000)
    const refusal = policy.refusal(1050, 1050)
    assert.ok(refusal instanceof WorkerStartError)
    assert.equal(refusal.cause, error.cause)
    assert.notEqual(refusal, error)
  })

  test('a call gets a RestartLimitError with figures and cause while the circuit is open', () => {
    const refusal = opened().refusal(1100, 1100)
    assert.ok(refusal instanceof RestartLimitError)
    assert.deepEqual(
      [refusal.code, refusal.failures, refusal.period, refusal.retryAfter, refusal.workerId],
      ['ERR_LIDO_RESTART_LIMIT', 3, 1000, 400, 7],
    )
    assert.equal((refusal.cause as WorkerStartError).cause, error.cause)
  })

  test('a call that waited for the failed start gets a WorkerStartError', () => {
    assert.ok(opened().refusal(999, 1000) instanceof WorkerStartError)
  })
})
