// When a task is run again.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskQuarantinedError } from '../../shared/errors/pool-errors.js'
import { AGAIN, Retry } from './retry.js'

const death = new Error('the worker ended')
const thrown = new Error('the handler failed')

describe('a retry without when', () => {
  test('follows a death while attempts are left, and what a handler throws never', () => {
    assert.equal(new Retry({ attempts: 2, when: null }).afterDeath(death), AGAIN)
    assert.equal(new Retry({ attempts: 2, when: null }).afterFailure(thrown), thrown)
  })

  test('ends in quarantine after as many deaths as attempts, with the last as its cause', () => {
    const retry = new Retry({ attempts: 3, when: null })
    assert.deepEqual([retry.afterDeath(death), retry.afterDeath(death)], [AGAIN, AGAIN])
    const last = retry.afterDeath(thrown)
    assert.ok(last instanceof TaskQuarantinedError)
    assert.deepEqual([last.code, last.workers, last.cause], ['ERR_LIDO_TASK_QUARANTINED', 3, thrown])
  })
})

describe('when', () => {
  test('is asked after deaths and failures alike, with the error and the attempt', () => {
    const asked: unknown[] = []
    const when = (...args: unknown[]) => asked.push(args) > 0
    const retry = new Retry({ attempts: 3, when })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterDeath(death)], [AGAIN, AGAIN])
    assert.deepEqual(asked, [
      [thrown, 1],
      [death, 2],
    ])
  })

  test('is not asked when no attempt is left; a handler’s error then arrives as itself', () => {
    let count = 0
    const when = () => ++count > 0
    const retry = new Retry({ attempts: 2, when })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterFailure(thrown), count], [AGAIN, thrown, 1])
  })

  test('one death in the last attempt is no quarantine: the task killed one worker only', () => {
    const retry = new Retry({ attempts: 2, when: () => true })
    assert.deepEqual([retry.afterFailure(thrown), retry.afterDeath(death)], [AGAIN, death])
  })

  test('that says no, or a promise, is no reason', () => {
    assert.equal(new Retry({ attempts: 2, when: () => false }).afterDeath(death), death)
    const promised = (async () => true) as unknown as () => boolean
    assert.equal(new Retry({ attempts: 2, when: promised }).afterDeath(death), death)
  })

  test('that throws: its caller is told of that', () => {
    const own = new Error('when failed')
    const when = () => {
      throw own
    }
    assert.equal(new Retry({ attempts: 2, when }).afterDeath(death), own)
  })
})
