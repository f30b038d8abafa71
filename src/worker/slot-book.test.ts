import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateClaims, begunAt, isClaimed, offer, takeBack } from '../shared/channel/claims.js'
import { realClock } from './clock.js'
import { SharedSlotBook } from './slot-book.js'

test('a task began, on the host’s clock, when it was claimed; what it waits for does not count, and what was taken back is not claimed', () => {
  // So much that no pause between two looks at a clock matters.
  const hostIsAheadMs = 1e9
  const hostNow = () => realClock.now() + hostIsAheadMs
  const claims = allocateClaims(2)
  const clockOrigin = realClock.origin() - hostIsAheadMs
  const book = new SharedSlotBook({ kind: 'port', claims, clockOrigin, context: true })
  const from = hostNow()
  offer(claims, 0, 7)
  offer(claims, 1, 8)
  assert.ok(takeBack(claims, 1, 8))
  assert.deepEqual([book.claim(0, 7), book.claim(1, 8)], [true, false])
  assert.deepEqual([isClaimed(claims, 0, 7), isClaimed(claims, 1, 8)], [true, false])
  const began = begunAt(claims, 0, hostNow())!
  assert.ok(Math.abs(began - from) < hostIsAheadMs / 2, `${began}, from ${from}`)
  const resumeTime = book.holdTime(0)
  assert.equal(begunAt(claims, 0, hostNow()), null)
  const heldAt = realClock.now()
  while (realClock.now() - heldAt < 3);
  resumeTime()
  assert.ok(begunAt(claims, 0, hostNow())! >= began + 3)
})
