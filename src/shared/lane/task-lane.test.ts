// A ticket has one task after another, and nothing of the one before may be taken for the next one's; nor have positions an end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane, HEAD, TAIL, wordsOf } from './layout.js'
import { TaskLane } from './task-lane.js'
import { POSITION_MASK } from './tickets.js'

const posting = { taskId: 1, handlerId: 1, flags: 0, from: 0, to: 0, int: 0, addressee: 0 }

test("a ticket's next task does not bear the number under which another was answered over the port", () => {
  const lane = new TaskLane(createLane(1, 0))
  const ticket = lane.post(posting)
  lane.tickets.setOrdinal(ticket, 1)
  lane.release(ticket)
  assert.equal(lane.post({ ...posting, taskId: 2 }), ticket)
  assert.equal(lane.tickets.ordinalOf(ticket), 0)
})

test('which task was posted first is known where positions start over', () => {
  const layout = createLane(2, 0)
  const words = wordsOf(layout.memory)
  words[HEAD] = POSITION_MASK
  words[TAIL] = POSITION_MASK
  const lane = new TaskLane(layout)
  const first = lane.post(posting)
  const second = lane.post(posting)
  assert.deepEqual([lane.positionOf(first), lane.positionOf(second)], [POSITION_MASK, 0])
  assert.ok(lane.order(first, second) < 0 && lane.order(second, first) > 0)
})

test('however many are taken back one after another, there is room for the next while no worker passes by', () => {
  const layout = createLane(1, 0)
  const lane = new TaskLane(layout)
  for (let task = 0; task <= 2 * layout.positions; task++) {
    assert.ok(lane.hasRoom)
    const ticket = lane.post(posting)
    assert.ok(lane.takeBack(ticket))
    lane.release(ticket)
  }
})
