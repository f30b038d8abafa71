import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkerBell } from './doorbell.js'
import { InboxReader } from './inbox.js'
import { LaneQueue, QueueReader } from './lane-queue.js'
import { createLane, createWorkerState, HEAD, TAIL, wordsOf } from './layout.js'
import { POSITION_MASK } from './ticket.js'
import { WorkerLaneState } from './worker-state.js'

const posting = { taskId: 1, handlerId: 1, flags: 0, from: 0, to: 0, int: 0 }

test('the queue keeps the order of tickets when positions wrap around', () => {
  const layout = createLane(2, 0)
  const words = wordsOf(layout.memory)
  words[HEAD] = POSITION_MASK
  words[TAIL] = POSITION_MASK
  const queue = new LaneQueue(layout)
  const first = queue.post(posting)
  const second = queue.post(posting)
  assert.deepEqual([queue.positionOf(first), queue.positionOf(second)], [POSITION_MASK, 0])
  assert.ok(queue.compare(first, second) < 0 && queue.compare(second, first) > 0)
})

test('the queue keeps room when the host takes back each ticket before a worker passes its position', () => {
  const layout = createLane(1, 0)
  const queue = new LaneQueue(layout)
  for (let task = 0; task <= 2 * layout.positions; task++) {
    assert.ok(queue.hasRoom)
    const ticket = queue.post(posting)
    assert.ok(queue.takeBackOffered(ticket))
    queue.release(ticket)
  }
})

for (const word of [HEAD, TAIL]) {
  for (const damaged of [-1, 1, 7, 1000, POSITION_MASK, 2 ** 28, 2 ** 31 - 1, -(2 ** 31)]) {
    test(`a worker claims all tasks after word ${word} was damaged with ${damaged}`, () => {
      const layout = createLane(4, 0)
      const words = wordsOf(layout.memory)
      const queue = new LaneQueue(layout)
      const state = createWorkerState()
      const bell = new WorkerBell(state.memory)
      const worker = new QueueReader(layout, 1, bell, new WorkerLaneState(state), new InboxReader(state))
      const tickets = [queue.post(posting), queue.post(posting), queue.post(posting)]
      const claimed = [worker.claim(0)]
      assert.equal(queue.unclaimed, 2)
      words[word] = damaged
      // A worker that sleeps before the host looks may have moved the head as well.
      if (word === TAIL) words[HEAD] = damaged & POSITION_MASK
      tickets.push(queue.post(posting))
      while (queue.unclaimed > 0) claimed.push(worker.claim(0))
      assert.deepEqual(claimed, tickets)
    })
  }
}
