// What a running task's handler is told of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Assignment } from './assignment.js'
import { RunningContext } from './running-context.js'

test('a task has one signal, however often its handler asks, and its end tells the reason', () => {
  const task = {
    isCancelled: false,
    cancelReason: 'enough',
    makeSignal: () => new AbortController().signal,
  }
  const context = new RunningContext(task as unknown as Assignment)
  assert.equal(context.signal, context.signal)
  context.throwIfCancelled()
  task.isCancelled = true
  assert.throws(() => context.throwIfCancelled(), { name: 'AbortError', reason: 'enough' })
})
