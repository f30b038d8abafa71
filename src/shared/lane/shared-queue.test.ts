import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane, HEAD, TAIL, wordsOf } from './layout.js'
import { SharedQueue } from './shared-queue.js'
import { POSITION_MASK } from './ticket.js'

const posting = { taskId: 1, handlerId: 1, flags: 0, from: 0, to: 0, int: 0 }

test('the queue keeps the order of tickets when positions wrap around', () => {
  const layout = createLane(2, 0)
  const words = wordsOf(layout.memory)
  words[HEAD] = POSITION_MASK
  words[TAIL] = POSITION_MASK
  const queue = new SharedQueue(layout)
  const first = queue.post(posting)
  const second = queue.post(posting)
  assert.deepEqual([queue.positionOf(first), queue.positionOf(second)], [POSITION_MASK, 0])
  assert.ok(queue.compare(first, second) < 0 && queue.compare(second, first) > 0)
})

test('the queue keeps room when the host takes back each ticket before a worker passes its position', () => {
  const layout = createLane(1, 0)
  const queue = new SharedQueue(layout)
  for (let task = 0; task <= 2 * layout.positions; task++) {
    assert.ok(queue.hasRoom)
    const ticket = queue.post(posting)
    assert.ok(queue.takeBackOffered(ticket))
    queue.release(ticket)
  }
})
