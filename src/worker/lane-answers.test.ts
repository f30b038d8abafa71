// What the host reads beside an answer must be of that answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { TaskLane } from '../shared/lane/task-lane.js'
import { LaneAnswers } from './lane-answers.js'
import type { LaneAssignment } from './lane-assignment.js'

test('a result that cannot be sent leaves no number of an answer sent over the port', () => {
  const workerId = 1
  const layout = createLane(1, 0)
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  const answers = new LaneAnswers(port1, workerId, layout, createDesk(), () => {})
  const ticket = lane.post({ taskId: 1, handlerId: 1, flags: 0, from: 0, to: 0, int: 0, addressee: 0 })
  lane.tickets.claim(ticket, lane.positionOf(ticket), workerId)
  lane.tickets.begin(ticket, workerId)
  answers.succeed({ taskId: 1, ticket, startedAt: 0 } as LaneAssignment, { method() {} })
  assert.equal(lane.tickets.phaseOf(ticket), 'answered')
  assert.equal(lane.tickets.ordinalOf(ticket), 0)
  port1.close()
  port2.close()
})
