// What a worker says of itself when the host asks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { allocateClaims } from '../shared/channel/claims.js'
import type { Executor } from './executor.js'
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
