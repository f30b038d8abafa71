// What a worker says of itself when the host asks, and that its event loop turns under what a port gives it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { allocateClaims, cancel, offer, takeBack } from '../shared/channel/claims.js'
import { pack } from '../shared/errors/remote-error.js'
import type { Assignment } from './assignment.js'
import type { Executor } from './executor.js'
import { YIELD_MS } from './intake.js'
import { PortIntake } from './port-intake.js'
import { SharedSlotBook, type SlotBook } from './slot-book.js'

test('a task that waits for the host’s word is held as well: asked, the worker names it', () => {
  const { port1, port2 } = new MessageChannel()
  const book = new SharedSlotBook({ kind: 'port', claims: allocateClaims(1), clockOrigin: 0, context: true })
  const intake = new PortIntake(port1, book, {} as Executor)
  const run = { kind: 'run', slot: 0, handlerId: 1, handler: null, payload: 1 } as const
  intake.onMessage({ ...run, taskId: 7 })
  intake.onMessage({ kind: 'audit' })
  assert.deepEqual(receiveMessageOnPort(port2)?.message, { kind: 'holding', taskIds: [7], received: 1 })
  port1.close()
  port2.close()
})

/** Its tasks run until the test answers them. */
function openIntake(slots: number, onQuiet = () => {}, meter: object | null = null) {
  const { port1, port2 } = new MessageChannel()
  const claims = allocateClaims(slots)
  const book = new SharedSlotBook({ kind: 'port', claims, clockOrigin: 0, context: true })
  const begun: Assignment[] = []
  const executor = { meter, run: (task: Assignment) => begun.push(task) } as unknown as Executor
  const intake = new PortIntake(port1, book, executor, onQuiet)
  intake.open()
  const post = (slot: number, isTakenBack = false) => {
    offer(claims, slot, slot + 1)
    if (isTakenBack) takeBack(claims, slot, slot + 1)
    intake.onMessage({ kind: 'run', taskId: slot + 1, slot, handlerId: 1, handler: null, payload: slot })
  }
  const said = () => receiveMessageOnPort(port2)?.message
  const close = () => {
    port1.close()
    port2.close()
  }
  return { intake, claims, begun, post, said, close }
}

test('a task is begun at once, and held until it is answered or its handler has ended', async () => {
  let quiet = 0
  const { intake, begun, post, said, close } = openIntake(3, () => quiet++)
  post(0)
  assert.equal(begun.length, 1)
  post(1)
  post(2)
  // Where the thread lost its core in between, the event loop comes before them.
  while (begun.length < 3) await turn()
  const held = () => {
    intake.onMessage({ kind: 'audit' })
    return said().taskIds
  }
  begun[1]!.succeed('b')
  assert.deepEqual(said(), { kind: 'done', taskId: 2, slot: 1, result: 'b' })
  assert.deepEqual(held(), [1, 3])
  intake.onMessage({ kind: 'cancel', taskId: 1, slot: 0, reason: pack('enough') })
  assert.deepEqual(
    [begun[0]!.isCancelled, begun[0]!.cancelReason, begun[2]!.isCancelled],
    [true, 'enough', false],
  )
  assert.deepEqual(held(), [1, 3])
  begun[0]!.succeed('a')
  assert.deepEqual(said(), { kind: 'over', taskId: 1, slot: 0 })
  const isAborted = (task: Assignment) => [task.isCancelled, task.makeSignal().aborted]
  assert.deepEqual(
    [isAborted(begun[0]!), isAborted(begun[1]!)],
    [
      [true, true],
      [false, false],
    ],
  )
  assert.deepEqual([held(), quiet, intake.isBusy], [[3], 0, true])
  begun[2]!.fail('thrown', pack('bad'), '')
  assert.equal(said().kind, 'failed')
  assert.deepEqual([held(), quiet, intake.isBusy], [[], 1, false])
  close()
})

test('before it looks out for the next task, the meter is told that it goes on', async () => {
  let wentOn = 0
  const meter = { onGoingOn: () => wentOn++ }
  const { begun, post, close } = openIntake(2, () => {}, meter)
  post(0)
  post(1)
  while (begun.length < 2) await turn()
  begun[0]!.succeed('a')
  assert.equal(wentOn, 0)
  begun[1]!.succeed('b')
  assert.equal(wentOn, 1)
  close()
})

test('at its end what runs hears that nobody wants its answer, unless it has, and what waits is not begun', async () => {
  let quiet = 0
  const { intake, begun, post, said, close } = openIntake(3, () => quiet++)
  post(0)
  post(1)
  intake.onMessage({ kind: 'cancel', taskId: 1, slot: 0, reason: pack('enough') })
  intake.leave()
  post(2)
  intake.close()
  assert.deepEqual(
    begun.map(({ isCancelled, cancelReason }) => [isCancelled, cancelReason]),
    [
      [true, 'enough'],
      [true, undefined],
    ],
  )
  for (const task of begun) task.succeed(null)
  assert.deepEqual([said().kind, said().kind, said()], ['over', 'over', undefined])
  await turn()
  assert.deepEqual([begun.length, quiet, intake.isBusy], [2, 1, false])
  close()
})

test('a task that the event loop comes before is begun after its turn, unless it is cancelled', async () => {
  const { port1, port2 } = new MessageChannel()
  const claims = allocateClaims(4)
  const book = new SharedSlotBook({ kind: 'port', claims, clockOrigin: 0, context: true })
  const begun: unknown[] = []
  const executor = {
    run({ payload }: Assignment) {
      begun.push(payload)
      const end = performance.now() + 2 * YIELD_MS
      while (performance.now() < end);
    },
  }
  const intake = new PortIntake(port1, book, executor as Executor)
  intake.open()
  const post = (slot: number) => {
    offer(claims, slot, slot + 1)
    intake.onMessage({ kind: 'run', taskId: slot + 1, slot, handlerId: 1, handler: null, payload: slot })
  }
  for (let slot = 0; slot < 4; slot++) post(slot)
  assert.deepEqual(begun, [0])
  intake.onMessage({ kind: 'audit' })
  const holding = { kind: 'holding', taskIds: [1, 2, 3, 4], received: 4 }
  assert.deepEqual(receiveMessageOnPort(port2)?.message, holding)
  intake.onMessage({ kind: 'cancel', taskId: 3, slot: 2, reason: pack('enough') })
  assert.deepEqual(receiveMessageOnPort(port2)?.message, { kind: 'over', taskId: 3, slot: 2 })
  // Where the thread loses its core before it begins one, the event loop comes first once more; two it never begins in a turn.
  while (begun.length < 2) await turn()
  assert.deepEqual(begun, [0, 1])
  while (begun.length < 3) await turn()
  assert.deepEqual(begun, [0, 1, 3])
  port1.close()
  port2.close()
})

test('what the host took back is not begun; of a task that its words call cancelled the end alone is said', async () => {
  const { claims, begun, post, said, close } = openIntake(2)
  post(0, true)
  post(1)
  while (begun.length === 0) await turn()
  assert.deepEqual(
    begun.map(({ payload, isCancelled }) => [payload, isCancelled]),
    [[1, false]],
  )
  cancel(claims, 1, 2)
  assert.equal(begun[0]!.isCancelled, true)
  begun[0]!.fail('thrown', pack('bad'), '')
  assert.deepEqual([said(), said()], [{ kind: 'over', taskId: 2, slot: 1 }, undefined])
  close()
})

test('a result that cannot be sent is the failure of its task, which is held no more', () => {
  const { intake, begun, post, said, close } = openIntake(1)
  post(0)
  begun[0]!.succeed({ hook() {} })
  const { kind, reason, path } = said()
  assert.deepEqual([kind, reason, path, intake.isBusy], ['failed', 'result', 'result.hook', false])
  close()
})

test('word of a task that is not here is of none that waits; what could not be read is counted with the tasks', () => {
  const { port1, port2 } = new MessageChannel()
  const book = new SharedSlotBook({ kind: 'port', claims: allocateClaims(1), clockOrigin: 0, context: true })
  const intake = new PortIntake(port1, book, {} as Executor)
  intake.onMessage({ kind: 'run', taskId: 7, slot: 0, handlerId: 1, handler: null, payload: 1 })
  intake.onMessage({ kind: 'cancel', taskId: 9, slot: 0, reason: pack('enough') })
  intake.onUnreadable()
  intake.onUnreadable()
  intake.onMessage({ kind: 'audit' })
  const said = [1, 2, 3].map(() => receiveMessageOnPort(port2)?.message)
  assert.deepEqual(said, [
    { kind: 'unreadable', ordinal: 2 },
    { kind: 'unreadable', ordinal: 3 },
    { kind: 'holding', taskIds: [7], received: 3 },
  ])
  port1.close()
  port2.close()
})

test('a worker that leaves begins what comes when the host has taken back what it can, at once where that is nothing', () => {
  for (const canBeTakenBack of [true, false]) {
    const { port1, port2 } = new MessageChannel()
    const book = { claim: () => true, canBeTakenBack: () => canBeTakenBack, maySpin: () => false }
    let begun = 0
    const executor = { run: () => begun++ } as unknown as Executor
    const intake = new PortIntake(port1, book as unknown as SlotBook, executor)
    intake.open()
    intake.leave()
    intake.onMessage({ kind: 'run', taskId: 1, slot: 0, handlerId: 1, handler: null, payload: 1 })
    assert.equal(begun, canBeTakenBack ? 0 : 1)
    intake.onMessage({ kind: 'leave' })
    assert.equal(begun, 1)
    port1.close()
    port2.close()
  }
})
