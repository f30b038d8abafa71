// What the worker says that it holds must be what it holds.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { DeskWords } from '../shared/lane/desk.js'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { BY_PORT, TaskLane } from '../shared/lane/task-lane.js'
import type { Executor } from './executor.js'
import { LaneIntake } from './lane-intake.js'

const workerId = 1

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
  const executor = { run: ({ payload }: { payload: unknown }) => begun.push(payload) } as unknown as Executor
  const intake = new LaneIntake(
    port1,
    {
      kind: 'lane',
      lane: layout.memory,
      desk: desk.memory,
      workerId,
      slots: 2,
      clockOrigin: 0,
      context: true,
      handlers: [],
    },
    executor,
  )
  const lane = new TaskLane(layout)
  const post = (taskId: number, addressee = 0) =>
    lane.post({ taskId, handlerId: 1, flags: BY_PORT, from: 0, to: 0, int: 0, addressee })
  return { intake, lane, desk, begun, post }
}

test('a ticket claimed anew, before the word that it was taken back, is held once', async t => {
  const { intake, lane, desk, post } = openIntake(t)
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
  assert.equal(new DeskWords(desk).held, 1)
})

test('a payload that comes late, for a task that a ticket stood for before, does not take the place of its own', t => {
  const { intake, lane, begun, post } = openIntake(t)
  const handler = { filename: '', name: '' }
  const run = (taskId: number, slot: number) =>
    intake.onMessage({ kind: 'run', taskId, slot, handlerId: 1, handler, payload: `of ${taskId}` })
  const slot = lane.nextTicket
  run(2, slot)
  run(1, slot)
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
