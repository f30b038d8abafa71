// The context of a task lives as long as the code that the task started. It must hold nothing large.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import type { WorkerTask } from '../lane/worker-task.js'
import { callInContext } from './executor.js'
import type { TaskContext } from './task-context.js'

test('a task that runs in its context does not keep its payload', () => {
  const task = { payload: 'payload' } as WorkerTask
  const result = callInContext(new AsyncLocalStorage<TaskContext>(), task, payload => payload)
  assert.deepEqual([result, task.payload], ['payload', undefined])
})
