// What the host reads beside an answer must be of that answer.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { pack } from '../shared/errors/remote-error.js'
import { DeskWords } from '../shared/lane/desk.js'
import { HostBell } from '../shared/lane/doorbell.js'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { ResultReader } from '../shared/lane/result-ring.js'
import { TaskLane } from '../shared/lane/task-lane.js'
import { move } from '../shared/messages/move.js'
import { realClock } from './clock.js'
import { LaneAnswers } from './lane-answers.js'
import { LaneAssignment } from './lane-assignment.js'

const workerId = 1

/** A worker that nobody reads the ring of, and its tasks. */
function setUp(t: TestContext, slots = 1) {
  const layout = createLane(slots, 0)
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const desk = createDesk()
  let answered = 0
  const answers = new LaneAnswers(port1, workerId, layout, desk, 1000, () => answered++)
  const post = (taskId: number) =>
    lane.post({ taskId, handlerId: 1, flags: 0, from: 0, to: 0, int: 0, addressee: 0 })
  const begin = (taskId: number): LaneAssignment => {
    const ticket = post(taskId)
    lane.tickets.claim(ticket, lane.positionOf(ticket), workerId)
    lane.tickets.begin(ticket, workerId)
    answers.onClaimed()
    return new LaneAssignment(taskId, ticket, 1, { filename: '', name: '' }, null, 5, answers)
  }
  const said = () => receiveMessageOnPort(port2)?.message
  /** Nothing more has room in the ring. Returns how many answers went over the port. */
  const fill = () => {
    const large = 'x'.repeat(400_000)
    for (let taskId = 101; taskId <= 110; taskId++) answers.succeed(begin(taskId), large)
    let sent = 0
    while (said() !== undefined) sent++
    return sent
  }
  return {
    answers,
    begin,
    post,
    said,
    fill,
    lane,
    tickets: lane.tickets,
    port: port2,
    ring: new ResultReader(desk),
    held: () => new DeskWords(desk).held,
    hostBell: new HostBell(layout),
    answered: () => answered,
  }
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
    const { answers, begin, fill, said, tickets } = setUp(t, 64)
    fill()
    const task = begin(1)
    answers.succeed(task, result)
    const message = said()
    assert.deepEqual([message.kind, message.taskId, message.slot], ['done', 1, task.ticket])
    assert.deepEqual(message.result, result)
    assert.equal(tickets.phaseOf(task.ticket), 'answered')
  })
}

test('what is read of a result is read before it is the answer, also where the ring is full', t => {
  const { answers, begin, fill, tickets } = setUp(t, 64)
  fill()
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
  const heldAt = realClock.now()
  while (realClock.now() - heldAt < 3);
  resumeTime()
  const begunAt = tickets.begunAt(task.ticket, 2000)!
  assert.ok(begunAt >= 1003, `${begunAt}`)
  // Given up: the ticket is another's.
  tickets.condemn(task.ticket, workerId)
  tickets.noteBegin(task.ticket, 1500)
  answers.holdTime(task)()
  assert.equal(tickets.begunAt(task.ticket, 2000), 1500)
})

test('answers sent over the port are numbered in their order; one that could not be sent took no number', t => {
  const { answers, begin, fill, said, tickets, answered } = setUp(t, 64)
  const long = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(50_000))
  const first = begin(1)
  answers.succeed(first, long)
  assert.deepEqual([said().isLong, tickets.ordinalOf(first.ticket)], [true, 1])
  const sent = 1 + fill()
  const known = answered()
  const gone = new ArrayBuffer(8)
  structuredClone(gone, { transfer: [gone] })
  const results = [new Blob(['text']), move(gone), { method() {} }, 5]
  const tasks = [2, 3, 4, 5, 6].map(begin)
  results.forEach((result, index) => {
    answers.succeed(tasks[index]!, result)
  })
  answers.fail(tasks[4]!, 'thrown', pack('bad'), '')
  assert.deepEqual(
    tasks.map(() => said().kind),
    ['done', 'failed', 'failed', 'done', 'failed'],
  )
  assert.deepEqual(
    tasks.map(({ ticket }) => tickets.ordinalOf(ticket) - sent),
    [1, 2, 3, 4, 5],
  )
  assert.equal(answered() - known, 5)
})

test('the host hears of an answer when it sleeps, of an empty lane when it rests, and each time once', t => {
  const { answers, begin, hostBell, said } = setUp(t, 8)
  const bells = () => {
    answers.succeed(begin(1), 1)
    const atAnswer = said()
    answers.onNothingToDo()
    return [atAnswer, said()]
  }
  assert.deepEqual(bells(), [undefined, undefined])
  hostBell.announceSleep()
  assert.deepEqual(bells(), ['bell', undefined])
  assert.deepEqual(bells(), [undefined, undefined])
  hostBell.announceRest()
  assert.deepEqual(bells(), [undefined, 'bell'])
  assert.deepEqual(bells(), [undefined, undefined])
  for (const announce of ['announceRest', 'announceSleep', 'announceRest'] as const) {
    hostBell[announce]()
    hostBell.stayAwake()
    assert.deepEqual(bells(), [undefined, undefined])
  }
})

test('a task is held until it is answered or its handler has ended, and what its worker was told of it goes with it', t => {
  const { answers, begin, tickets, said, held, answered } = setUp(t, 2)
  const wanted = begin(1)
  const cancelled = begin(2)
  tickets.condemn(cancelled.ticket, workerId)
  for (const { taskId } of [wanted, cancelled]) answers.cancellations.cancel(taskId, 'why')
  assert.deepEqual([held(), cancelled.isCancelled, cancelled.cancelReason], [2, true, 'why'])
  answers.succeed(cancelled, 1)
  assert.deepEqual(said(), { kind: 'over', taskId: 2, slot: cancelled.ticket })
  assert.deepEqual([held(), answered()], [1, 1])
  answers.succeed(wanted, 1)
  assert.deepEqual([held(), answered(), said()], [0, 2, undefined])
  assert.deepEqual([cancelled.cancelReason, wanted.cancelReason], [undefined, undefined])
  const isAborted = (task: LaneAssignment) => [task.isCancelled, task.makeSignal().aborted]
  assert.deepEqual(isAborted(cancelled), [true, true])
  assert.deepEqual(isAborted(wanted), [false, false])
})

test('a worker that was given up says nothing of a task that ends: its ticket is another’s', t => {
  const { answers, begin, post, lane, said } = setUp(t)
  const { tickets } = lane
  const task = begin(1)
  tickets.condemn(task.ticket, workerId)
  lane.release(task.ticket)
  post(2)
  answers.succeed(task, 1)
  assert.deepEqual([said(), tickets.phaseOf(task.ticket)], [undefined, 'offered'])
})

test('of a cancelled task only its end is said, whatever it ended with', t => {
  const { answers, begin, lane, said, ring } = setUp(t, 8)
  const long = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(50_000))
  const results = [1, { a: 1 }, new Blob(['text']), move(new ArrayBuffer(8)), { method() {} }, long]
  const ends = [
    ...results.map(result => (task: LaneAssignment) => answers.succeed(task, result)),
    (task: LaneAssignment) => answers.fail(task, 'thrown', pack('bad'), ''),
  ]
  for (const end of ends) {
    const task = begin(1)
    lane.tickets.condemn(task.ticket, workerId)
    end(task)
    assert.deepEqual([said(), said()], [{ kind: 'over', taskId: 1, slot: task.ticket }, undefined])
  }
  assert.ok(ring.isEmpty)
})
