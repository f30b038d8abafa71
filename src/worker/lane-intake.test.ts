// What the worker says that it holds must be what it holds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { DeskWords } from '../shared/lane/desk.js'
import { createDesk, createLane } from '../shared/lane/layout.js'
import { BY_PORT, TaskLane } from '../shared/lane/task-lane.js'
import type { Executor } from './executor.js'
import { LaneIntake } from './lane-intake.js'

test('a ticket claimed anew, before the word that it was taken back, is held once', async () => {
  const workerId = 1
  const layout = createLane(2, 0)
  const desk = createDesk()
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  const { memory } = layout
  const intake = new LaneIntake(
    port1,
    {
      kind: 'lane',
      lane: memory,
      desk: desk.memory,
      workerId,
      slots: 2,
      clockOrigin: 0,
      context: true,
      handlers: [],
    },
    {} as Executor,
  )
  const post = (taskId: number) =>
    lane.post({ taskId, handlerId: 1, flags: BY_PORT, from: 0, to: 0, int: 0, addressee: 0 })
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
  port1.close()
  port2.close()
})

test('a payload that comes late, for a task that a ticket stood for before, does not take the place of its own', () => {
  const workerId = 1
  const layout = createLane(2, 0)
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  const begun: unknown[] = []
  const intake = new LaneIntake(
    port1,
    {
      kind: 'lane',
      lane: layout.memory,
      desk: createDesk().memory,
      workerId,
      slots: 2,
      clockOrigin: 0,
      context: true,
      handlers: [],
    },
    { run: (task: { payload: unknown }) => begun.push(task.payload) } as unknown as Executor,
  )
  const handler = { filename: '', name: '' }
  const run = (taskId: number, slot: number) =>
    intake.onMessage({ kind: 'run', taskId, slot, handlerId: 1, handler, payload: `of ${taskId}` })
  const slot = lane.nextTicket
  run(2, slot)
  run(1, slot)
  intake.onMessage({ kind: 'drop', slot, taskId: 1 })
  lane.post({ taskId: 2, handlerId: 1, flags: BY_PORT, from: 0, to: 0, int: 0, addressee: workerId })
  intake.open()
  assert.deepEqual(begun, ['of 2'])
  port1.close()
  port2.close()
})

test('a worker that leaves takes nothing until the host has taken back what it can', () => {
  const workerId = 1
  const layout = createLane(2, 0)
  const lane = new TaskLane(layout)
  const { port1, port2 } = new MessageChannel()
  const intake = new LaneIntake(
    port1,
    {
      kind: 'lane',
      lane: layout.memory,
      desk: createDesk().memory,
      workerId,
      slots: 2,
      clockOrigin: 0,
      context: true,
      handlers: [],
    },
    {} as Executor,
  )
  const posting = { handlerId: 1, flags: BY_PORT, from: 0, to: 0, int: 0, addressee: workerId }
  const copied = lane.post({ ...posting, taskId: 1 })
  const moved = lane.post({ ...posting, taskId: 2 })
  intake.leave()
  intake.open()
  assert.ok(lane.takeBack(copied))
  intake.onMessage({ kind: 'leave' })
  assert.ok(lane.tickets.isClaimedBy(moved, workerId))
  port1.close()
  port2.close()
})
