// The context of a task lives as long as the code that the task started, so the context must not hold the payload.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkerTask } from '../lane/worker-task.js'
import { callInScope } from './executor.js'
import { enableTaskContext } from './task-context.js'

test('callInScope() passes the payload to the handler and removes it from the task', () => {
  enableTaskContext()
  const task = { payload: 'payload', carried: null, handler: {} } as WorkerTask
  const result = callInScope(task, payload => payload, null)
  assert.deepEqual([result, task.payload], ['payload', undefined])
})
