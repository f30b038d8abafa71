import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskQuarantinedError } from '../../shared/errors/pool-errors.js'
import { AGAIN, Retry } from './retry.js'

const death = new Error('the worker ended')
const thrown = new Error('the handler failed')

describe("Retry without 'when'", () => {
  test("a task is retried after a worker's death while attempts are left, never after a handler's error", () => {
    assert.equal(new Retry({ attempts: 2, when: null }).afterDeath(death), AGAIN)
    assert.equal(new Retry({ attempts: 2, when: null }).afterFailure(thrown), thrown)
  })

  test('a task is quarantined when every attempt killed a worker, with the last error as its cause', () => {
    const retry = new Retry({ attempts: 3, when: null })
    assert.deepEqual([retry.afterDeath(death), retry.afterDeath(death)], [AGAIN, AGAIN])
    const last = retry.afterDeath(thrown)
    assert.ok(last instanceof TaskQuarantinedError)
    assert.deepEqual([last.code, last.workers, last.cause], ['ERR_LIDO_TASK_QUARANTINED', 3, thrown])
  })
})

describe("Retry with 'when'", () => {
  test("the function 'when' gets the error and the attempt after worker deaths and handler errors", () => {
    const asked: unknown[] = []
    const when = (...args: unknown[]) => asked.push(args) > 0
    const retry = new Retry({ attempts: 3, when })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterDeath(death)], [AGAIN, AGAIN])
    assert.deepEqual(asked, [
      [thrown, 1],
      [death, 2],
    ])
  })

  test("the function 'when' is not called after the last attempt, and the handler's error arrives", () => {
    let count = 0
    const when = () => ++count > 0
    const retry = new Retry({ attempts: 2, when })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterFailure(thrown), count], [AGAIN, thrown, 1])
  })

  test('a task that killed only one worker, in its last attempt, is not quarantined', () => {
    const retry = new Retry({ attempts: 2, when: () => true })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterDeath(death)], [AGAIN, death])
  })

  test("a task is not retried when the function 'when' returns false or a promise", () => {
    assert.equal(new Retry({ attempts: 2, when: () => false }).afterDeath(death), death)
    const promised = (async () => true) as unknown as () => boolean
    assert.equal(new Retry({ attempts: 2, when: promised }).afterDeath(death), death)
  })

  test("an error that the function 'when' throws reaches the caller", () => {
    const own = new Error('when failed')
    const when = () => {
      throw own
    }
    assert.equal(new Retry({ attempts: 2, when }).afterDeath(death), own)
  })
})
