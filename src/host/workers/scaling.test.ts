import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseRetired, type IdleView, nextRetirement } from './scaling.js'

const idle = (idleSince: number): IdleView => ({ isIdle: true, idleSince })
const busy: IdleView = { isIdle: false, idleSince: 0 }

describe('chooseRetired()', () => {
  test('workers retire after the idle timeout, the longest idle worker first', () => {
    const workers = [idle(30), idle(10), idle(20), idle(91)]
    assert.deepEqual(chooseRetired(workers, 0, 60, 90), [workers[1], workers[2], workers[0]])
  })

  test('a worker retires in the last millisecond of the timeout and not before', () => {
    const worker = idle(10)
    assert.deepEqual(chooseRetired([worker], 0, 60, 69), [])
    assert.deepEqual(chooseRetired([worker], 0, 60, 70), [worker])
  })

  test('the minimum number of workers always stays', () => {
    const workers = [idle(1), idle(2), idle(3)]
    assert.deepEqual(chooseRetired(workers, 2, 0, 100), [workers[0]])
    assert.deepEqual(chooseRetired(workers, 3, 0, 100), [])
    assert.deepEqual(chooseRetired(workers, 5, 0, 100), [])
  })

  test('a busy worker never retires', () => {
    assert.deepEqual(chooseRetired([busy, busy], 0, 0, 100), [])
  })
})

describe('nextRetirement()', () => {
  test('the next retirement is due when the longest idle worker reaches the timeout', () => {
    assert.equal(nextRetirement([idle(30), busy, idle(10)], 0, 60), 70)
  })

  test('no retirement is due at the minimum, without an idle worker or without a timeout', () => {
    const never = Number.POSITIVE_INFINITY
    assert.equal(nextRetirement([idle(1), idle(2)], 2, 60), never)
    assert.equal(nextRetirement([busy, busy], 0, 60), never)
    assert.equal(nextRetirement([], 0, 60), never)
    assert.equal(nextRetirement([idle(1)], 0, never), never)
  })
})
