// What a worker says of itself when the host asks, and that its event loop turns under what a port gives it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { allocateClaims, offer } from '../shared/channel/claims.js'
import { pack } from '../shared/errors/remote-error.js'
import type { Assignment } from './assignment.js'
import type { Executor } from './executor.js'
import { YIELD_MS } from './intake.js'
import { PortIntake } from './port-intake.js'
import { SharedSlotBook } from './slot-book.js'

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
  await turn()
  assert.deepEqual(begun, [0, 1])
  await turn()
  assert.deepEqual(begun, [0, 1, 3])
  port1.close()
  port2.close()
})
