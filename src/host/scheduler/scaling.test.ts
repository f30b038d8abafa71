// Which workers go, and when.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseRetired, type IdleView, nextRetirement } from './scaling.js'

const idle = (idleSince: number): IdleView => ({ isIdle: true, idleSince })
const busy: IdleView = { isIdle: false, idleSince: 0 }

describe('who retires', () => {
  test('those idle for the whole timeout, longest idle first', () => {
    const workers = [idle(30), idle(10), idle(20), idle(91)]
    assert.deepEqual(chooseRetired(workers, 0, 60, 90), [workers[1], workers[2], workers[0]])
  })

  test('the timeout is over on its last millisecond, not before', () => {
    const worker = idle(10)
    assert.deepEqual(chooseRetired([worker], 0, 60, 69), [])
    assert.deepEqual(chooseRetired([worker], 0, 60, 70), [worker])
  })

  test('never so many that fewer than the minimum stay', () => {
    const workers = [idle(1), idle(2), idle(3)]
    assert.deepEqual(chooseRetired(workers, 2, 0, 100), [workers[0]])
    assert.deepEqual(chooseRetired(workers, 3, 0, 100), [])
    assert.deepEqual(chooseRetired(workers, 5, 0, 100), [])
  })

  test('never one that works', () => {
    assert.deepEqual(chooseRetired([busy, busy], 0, 0, 100), [])
  })
})

describe('when the next one retires', () => {
  test('when the longest idle has been idle for the whole timeout', () => {
    assert.equal(nextRetirement([idle(30), busy, idle(10)], 0, 60), 70)
  })

  test('never, at the minimum, without an idle worker, or without a timeout', () => {
    const never = Number.POSITIVE_INFINITY
    assert.equal(nextRetirement([idle(1), idle(2)], 2, 60), never)
    assert.equal(nextRetirement([busy, busy], 0, 60), never)
    assert.equal(nextRetirement([], 0, 60), never)
    assert.equal(nextRetirement([idle(1)], 0, never), never)
  })
})
