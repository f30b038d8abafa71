// A ticket has one task after another, and nothing of the one before may be taken for the next one's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane } from './layout.js'
import { TaskLane } from './task-lane.js'

test("a ticket's next task does not bear the number under which another was answered over the port", () => {
  const lane = new TaskLane(createLane(1, 0))
  const posting = { handlerId: 1, flags: 0, from: 0, to: 0, int: 0, addressee: 0 }
  const ticket = lane.post({ ...posting, taskId: 1 })
  lane.tickets.setOrdinal(ticket, 1)
  lane.release(ticket)
  assert.equal(lane.post({ ...posting, taskId: 2 }), ticket)
  assert.equal(lane.tickets.ordinalOf(ticket), 0)
})
