// What the host reads beside an answer must be of that answer.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { ResultReader } from '../shared/lane/result-ring.js'
import { TaskLane } from '../shared/lane/task-lane.js'
import { LaneAnswers } from './lane-answers.js'
import type { LaneAssignment } from './lane-assignment.js'

const workerId = 1

/** A worker that nobody reads the ring of, and its tasks. */
function setUp(t: TestContext, slots = 1) {
  const layout = createLane(slots, 0)
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const desk = createDesk()
  const answers = new LaneAnswers(port1, workerId, layout, desk, 1000, () => {})
  const begin = (taskId: number): LaneAssignment => {
    const ticket = lane.post({ taskId, handlerId: 1, flags: 0, from: 0, to: 0, int: 0, addressee: 0 })
    lane.tickets.claim(ticket, lane.positionOf(ticket), workerId)
    lane.tickets.begin(ticket, workerId)
    return { taskId, ticket, startedAt: 5 } as LaneAssignment
  }
  return { answers, begin, tickets: lane.tickets, port: port2, ring: new ResultReader(desk) }
}

test('a result that cannot be sent leaves no number of an answer sent over the port', t => {
  const { answers, begin, tickets } = setUp(t)
  const task = begin(1)
  answers.succeed(task, { method() {} })
  assert.equal(tickets.phaseOf(task.ticket), 'answered')
  assert.equal(tickets.ordinalOf(task.ticket), 0)
})

test('an answer says when its task began, on the clock of the host, by the ring and by the port', t => {
  const { answers, begin, ring, port } = setUp(t, 2)
  answers.succeed(begin(1), 7)
  answers.succeed(begin(2), new Blob(['text']))
  assert.ok(ring.next())
  const { message } = receiveMessageOnPort(port)!
  assert.deepEqual([ring.startedAt, message.startedAt], [1005, 1005])
  assert.ok(ring.runMs > 0 && message.runMs > 0)
})

for (const [kind, result] of [
  ['a number', 7],
  ['an object', { a: 1 }],
  ['one of a kind that the lane does not know', new Blob(['text'])],
] as const) {
  test(`where the ring is full ${kind} goes over the port`, t => {
    const { answers, begin, tickets, port } = setUp(t, 64)
    const large = 'x'.repeat(400_000)
    let taskId = 1
    for (; taskId <= 10; taskId++) answers.succeed(begin(taskId), large)
    for (let message = receiveMessageOnPort(port); message !== undefined; )
      message = receiveMessageOnPort(port)
    const task = begin(taskId)
    answers.succeed(task, result)
    const { message } = receiveMessageOnPort(port)!
    assert.deepEqual([message.kind, message.taskId, message.slot], ['done', taskId, task.ticket])
    assert.deepEqual(message.result, result)
    assert.equal(tickets.phaseOf(task.ticket), 'answered')
  })
}

test('what is read of a result is read before it is the answer, also where the ring is full', t => {
  const { answers, begin, tickets } = setUp(t, 64)
  const large = 'x'.repeat(400_000)
  for (let taskId = 1; taskId <= 10; taskId++) answers.succeed(begin(taskId), large)
  const phases: string[] = []
  const task = begin(11)
  const result = {
    get read() {
      phases.push(tickets.phaseOf(task.ticket))
      return 1
    },
  }
  answers.succeed(task, result)
  assert.deepEqual(phases, ['begun'])
})

test('the time of a task is held by the worker that has it, and goes on where it was', t => {
  const { answers, begin, tickets } = setUp(t)
  const task = begin(1)
  tickets.noteBegin(task.ticket, 1000)
  const resumeTime = answers.holdTime(task)
  assert.equal(tickets.begunAt(task.ticket, 2000), null)
  resumeTime()
  const begunAt = tickets.begunAt(task.ticket, 2000)!
  assert.ok(begunAt >= 1000, `${begunAt}`)
  // Given up: the ticket is another's.
  tickets.condemn(task.ticket, workerId)
  tickets.noteBegin(task.ticket, 1500)
  answers.holdTime(task)()
  assert.equal(tickets.begunAt(task.ticket, 2000), 1500)
})
