// The context of a task lives as long as the code that the task started, so the context must not hold the payload.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import type { TaskContext } from '../../api/task-context.js'
import type { WorkerTask } from '../lane/worker-task.js'
import { callInContext } from './executor.js'

test('callInContext() passes the payload to the handler and removes it from the task', () => {
  const task = { payload: 'payload' } as WorkerTask
  const result = callInContext(new AsyncLocalStorage<TaskContext>(), task, payload => payload)
  assert.deepEqual([result, task.payload], ['payload', undefined])
})
