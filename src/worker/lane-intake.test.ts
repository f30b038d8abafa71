// What the worker says that it holds must be what it holds.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { pack } from '../shared/errors/remote-error.js'
import { DeskWords } from '../shared/lane/desk.js'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { ALONE, BY_PORT, IS_INT, TaskLane, TIMED } from '../shared/lane/task-lane.js'
import type { Assignment } from './assignment.js'
import { realClock } from './clock.js'
import type { Executor } from './executor.js'
import { LaneIntake } from './lane-intake.js'

const workerId = 1
const handler = { filename: '', name: '' }
// So much that no pause between two looks at a clock matters.
const hostIsAheadMs = 1e9

/** After a task that took long a worker looks again only when its event loop has turned. */
async function turns() {
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
}

/** An intake with two slots at a lane for two tasks; its executor notes the payloads of what it is to run. */
function openIntake(t: TestContext) {
  const layout = createLane(2, 0)
  const desk = createDesk()
  const { port1, port2 } = new MessageChannel()
  t.after(() => {
    port1.close()
    port2.close()
  })
  const begun: unknown[] = []
  const tasks: Assignment[] = []
  const run = (task: Assignment) => {
    begun.push(task.payload)
    tasks.push(task)
  }
  const executor = { run } as Executor
  const intake = new LaneIntake(
    port1,
    {
      kind: 'lane',
      lane: layout.memory,
      desk: desk.memory,
      workerId,
      slots: 2,
      clockOrigin: realClock.origin() - hostIsAheadMs,
      context: true,
      handlers: [],
    },
    executor,
  )
  const lane = new TaskLane(layout)
  const post = (taskId: number, addressee = 0, flags = BY_PORT) =>
    lane.post({ taskId, handlerId: 1, flags, from: 0, to: 0, int: taskId, addressee })
  const send = (taskId: number, slot: number) =>
    intake.onMessage({ kind: 'run', taskId, slot, handlerId: 1, handler, payload: `of ${taskId}` })
  intake.onMessage({ kind: 'known', handlerId: 1, handler })
  const said = () => {
    const messages: unknown[] = []
    for (let next = receiveMessageOnPort(port2); next !== undefined; next = receiveMessageOnPort(port2))
      messages.push(next.message)
    return messages
  }
  const held = () => new DeskWords(desk).held
  return { intake, lane, begun, tasks, post, send, said, held }
}

test('a ticket claimed anew, before the word that it was taken back, is held once', async t => {
  const { intake, lane, held, post } = openIntake(t)
  const ticket = post(1)
  intake.open()
  assert.ok(lane.tickets.takeBackFrom(ticket, workerId))
  lane.release(ticket)
  assert.equal(post(2), ticket)
  intake.onMessage('bell')
  // After a first task that took long it looks again only when its event loop has turned.
  await new Promise(setImmediate)
  assert.ok(lane.tickets.isClaimedBy(ticket, workerId))
  intake.onMessage({ kind: 'drop', slot: ticket, taskId: 1 })
  assert.equal(held(), 1)
})

test('a worker that had no room looks again when what it holds is taken back', async t => {
  const { intake, lane, begun, post } = openIntake(t)
  const ticket = post(1)
  post(2)
  intake.open()
  assert.ok(lane.tickets.takeBackFrom(ticket, workerId))
  lane.release(ticket)
  post(3, 0, IS_INT)
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(begun, [])
  intake.onMessage({ kind: 'drop', slot: ticket, taskId: 1 })
  await turns()
  assert.deepEqual(begun, [3])
})

test('a payload that comes late, for a task that a ticket stood for before, does not take the place of its own', t => {
  const { intake, lane, begun, post, send } = openIntake(t)
  const slot = lane.nextTicket
  send(2, slot)
  send(1, slot)
  intake.onMessage({ kind: 'drop', slot, taskId: 1 })
  post(2, workerId)
  intake.open()
  assert.deepEqual(begun, ['of 2'])
})

test('a worker that leaves takes nothing until the host has taken back what it can', t => {
  const { intake, lane, post } = openIntake(t)
  const copied = post(1, workerId)
  const moved = post(2, workerId)
  intake.leave()
  intake.open()
  assert.ok(lane.takeBack(copied))
  intake.onMessage({ kind: 'leave' })
  assert.ok(lane.tickets.isClaimedBy(moved, workerId))
})

test('a payload is for the ticket that it names while that stands for its task, and for one begin', async t => {
  const { intake, lane, begun, post, send, said } = openIntake(t)
  intake.open()
  await turns()
  const slot = post(2)
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(said(), [{ kind: 'send', taskId: 2, slot }])
  send(1, slot)
  assert.deepEqual(begun, [])
  send(2, slot)
  assert.deepEqual(begun, ['of 2'])
  // Task 1 is posted, where its payload is not for.
  const other = post(1)
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(said(), [{ kind: 'send', taskId: 1, slot: other }])
  assert.equal(lane.hasRoom, false)
  intake.onUnreadable()
  assert.deepEqual(said(), [{ kind: 'unreadable', ordinal: 3 }])
})

test('a payload that was begun, or dropped, is asked for again when its task is', async t => {
  const { intake, lane, begun, tasks, post, send, said } = openIntake(t)
  intake.open()
  await turns()
  const slot = lane.nextTicket
  const postAgain = async (addressee = 0) => {
    assert.equal(post(1, addressee), slot)
    intake.onMessage('bell')
    await turns()
    return said()
  }
  const asked = [{ kind: 'send', taskId: 1, slot }]
  send(1, slot)
  assert.deepEqual([await postAgain(workerId), begun], [[], ['of 1']])
  tasks[0]!.succeed(1)
  lane.release(slot)
  assert.deepEqual([await postAgain(), begun.length], [asked, 1])
  lane.tickets.takeBackFrom(slot, workerId)
  lane.release(slot)
  intake.onMessage({ kind: 'drop', slot, taskId: 1 })
  said()
  send(1, slot)
  intake.onMessage({ kind: 'drop', slot, taskId: 1 })
  assert.deepEqual([await postAgain(), begun.length], [asked, 1])
})

test('what waits for its payload while its worker leaves is begun on the host’s word, on the host’s clock, once', async t => {
  const { intake, lane, begun, post, send, held } = openIntake(t)
  const hostNow = () => realClock.now() + hostIsAheadMs
  const from = hostNow()
  const slots = [1, 2].map(taskId => post(taskId, 0, BY_PORT | TIMED))
  intake.open()
  await turns()
  send(1, slots[0]!)
  assert.deepEqual(begun, ['of 1'])
  intake.leave()
  send(2, slots[1]!)
  assert.deepEqual(begun, ['of 1'])
  intake.onMessage({ kind: 'leave' })
  assert.deepEqual(begun, ['of 1', 'of 2'])
  for (const slot of slots) {
    const begunAt = lane.tickets.begunAt(slot, hostNow())!
    assert.ok(Math.abs(begunAt - from) < hostIsAheadMs / 2, `${begunAt}, from ${from}`)
  }
  intake.onMessage({ kind: 'drop', slot: slots[1]!, taskId: 2 })
  assert.equal(held(), 2)
})

test('beside a task that must be alone none is begun, and those behind it are called', async t => {
  const { intake, begun, tasks, post, said } = openIntake(t)
  post(1, 0, IS_INT | ALONE)
  post(2, 0, IS_INT)
  intake.open()
  await turns()
  assert.deepEqual([begun, said()], [[1], ['bell']])
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(begun, [1])
  tasks[0]!.succeed(1)
  await turns()
  assert.deepEqual(begun, [1, 2])
  post(3, 0, IS_INT | ALONE)
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(begun, [1, 2])
})

test('word that a task is cancelled is for the task that runs there and that the host has condemned', async t => {
  const { intake, lane, tasks, post } = openIntake(t)
  const slot = post(1, 0, IS_INT)
  intake.open()
  await turns()
  const task = tasks[0]!
  const cancel = (taskId: number) => {
    intake.onMessage({ kind: 'cancel', taskId, slot, reason: pack('enough') })
    return [task.isCancelled, task.makeSignal().aborted, task.cancelReason]
  }
  assert.deepEqual(cancel(1), [false, false, undefined])
  lane.tickets.condemn(slot, workerId)
  assert.deepEqual(cancel(2), [true, false, undefined])
  assert.deepEqual(cancel(1), [true, true, 'enough'])
})

test('what is next being another’s, a worker finds by itself what is behind it; one that is to stop takes no more', {
  timeout: 30_000,
}, async t => {
  const { intake, lane, begun, post } = openIntake(t)
  const others = post(1, workerId + 1, IS_INT)
  post(2, 0, IS_INT)
  intake.open()
  await turns()
  assert.deepEqual(begun, [])
  lane.tickets.claim(others, lane.positionOf(others), workerId + 1)
  while (begun.length === 0 && !t.signal.aborted) await new Promise(resolve => setTimeout(resolve, 1))
  assert.deepEqual(begun, [2])
  lane.release(others)
  intake.stopTaking()
  post(3, 0, IS_INT)
  intake.onMessage('bell')
  await turns()
  assert.deepEqual(begun, [2])
})
