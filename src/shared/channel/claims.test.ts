// Who owns a posted task: exactly one of host and worker, whoever comes first.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SharedWords } from '../platform/atomics.js'
import {
  allocateClaims,
  allowSpin,
  begunAt,
  canBeTakenBack,
  cancel,
  claim,
  holdTime,
  isAnswered,
  isCancelled,
  isClaimed,
  markAnswered,
  markLoading,
  maySpin,
  nextTaskId,
  noteBegin,
  offer,
  resumeTime,
  takeBack,
  wasLoading,
} from './claims.js'

const LAST_ID = 2 ** 31 - 1

describe('a claim', () => {
  for (const id of [1, 2, 77, LAST_ID]) {
    test(`task ${id}: what the worker claims cannot be taken back`, () => {
      const claims = allocateClaims(1)
      offer(claims, 0, id)
      assert.equal(isClaimed(claims, 0, id), false)
      assert.equal(claim(claims, 0, id), true)
      assert.equal(isClaimed(claims, 0, id), true)
      assert.equal(takeBack(claims, 0, id), false)
      assert.equal(isClaimed(claims, 0, id), true)
    })

    test(`task ${id}: what the host takes back cannot be claimed`, () => {
      const claims = allocateClaims(1)
      offer(claims, 0, id)
      assert.equal(takeBack(claims, 0, id), true)
      assert.equal(claim(claims, 0, id), false)
      assert.equal(isClaimed(claims, 0, id), false)
    })

    test(`task ${id}: it is claimed once and taken back once`, () => {
      const claims = allocateClaims(1)
      offer(claims, 0, id)
      assert.deepEqual([claim(claims, 0, id), claim(claims, 0, id)], [true, false])
      offer(claims, 0, id)
      assert.deepEqual([takeBack(claims, 0, id), takeBack(claims, 0, id)], [true, false])
    })
  }

  test('a message that comes late finds the slot given to another, and passes over', () => {
    const claims = allocateClaims(1)
    offer(claims, 0, 1)
    assert.equal(takeBack(claims, 0, 1), true)
    offer(claims, 0, 2)
    assert.equal(claim(claims, 0, 1), false)
    assert.equal(claim(claims, 0, 2), true)
  })

  test('a cancellation is of one task, not of the next in its slot', () => {
    const claims = allocateClaims(2)
    offer(claims, 0, 1)
    cancel(claims, 0, 1)
    assert.deepEqual([isCancelled(claims, 0, 1), isCancelled(claims, 1, 1)], [true, false])
    offer(claims, 0, 2)
    assert.equal(isCancelled(claims, 0, 2), false)
  })

  test('that its answer is on its way, or its file loaded, is said of one task, not of the next in its slot', () => {
    const claims = allocateClaims(2)
    offer(claims, 1, 1)
    markLoading(claims, 1, true)
    assert.deepEqual([wasLoading(claims, 0), wasLoading(claims, 1)], [false, true])
    offer(claims, 1, 2)
    assert.equal(wasLoading(claims, 1), false)
    markAnswered(claims, 1)
    assert.deepEqual([isAnswered(claims, 0), isAnswered(claims, 1)], [false, true])
    offer(claims, 1, 3)
    assert.equal(isAnswered(claims, 1), false)
  })

  test('when a task began is said anew for each task in a slot', () => {
    const claims = allocateClaims(2)
    offer(claims, 1, 1)
    noteBegin(claims, 1, 10)
    assert.equal(begunAt(claims, 1, 50), 10)
    offer(claims, 1, 2)
    assert.equal(begunAt(claims, 1, 50), null)
  })

  test('the time for which a task was held does not count', () => {
    const claims = allocateClaims(2)
    offer(claims, 1, 1)
    noteBegin(claims, 1, 10)
    const stamp = holdTime(claims, 1)
    assert.equal(begunAt(claims, 1, 50), null)
    resumeTime(claims, 1, stamp, 30)
    assert.equal(begunAt(claims, 1, 50), 40)
  })

  test('where no memory is shared, what is posted is begun, and nobody looks out', () => {
    const claims = new Int32Array(allocateClaims(1).length) as unknown as SharedWords
    offer(claims, 0, 1)
    allowSpin(claims, true)
    assert.deepEqual([takeBack(claims, 0, 1), canBeTakenBack(claims), maySpin(claims)], [false, false, false])
    assert.deepEqual([isClaimed(claims, 0, 1), isClaimed(claims, 0, 2)], [true, false])
    assert.deepEqual([claim(claims, 0, 1), claim(claims, 0, 2)], [true, true])
  })

  test('slots know nothing of each other', () => {
    const claims = allocateClaims(3)
    for (const slot of [0, 1, 2]) offer(claims, slot, 10 + slot)
    assert.equal(claim(claims, 1, 11), true)
    assert.equal(takeBack(claims, 0, 10), true)
    assert.equal(isClaimed(claims, 2, 12), false)
    assert.equal(isClaimed(claims, 1, 11), true)
  })

  test('an empty slot holds no task', () => {
    const claims = allocateClaims(1)
    assert.equal(claim(claims, 0, 1), false)
    assert.equal(takeBack(claims, 0, 1), false)
    assert.equal(isClaimed(claims, 0, 1), false)
  })
})

test('ids run from 1 to the largest that a word holds both ways, and begin again at 1', () => {
  assert.equal(nextTaskId(0), 1)
  assert.equal(nextTaskId(1), 2)
  assert.equal(nextTaskId(LAST_ID - 1), LAST_ID)
  assert.equal(nextTaskId(LAST_ID), 1)
})
