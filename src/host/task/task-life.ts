// The states of a task, and the moves that are allowed.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

export type TaskState = 'queued' | 'assigned' | 'failed' | 'decoding' | 'settled'

export const taskStates: StateTable<TaskState> = {
  /** settled: cancelled or rejected before a worker had it */
  queued: ['assigned', 'settled'],
  /** queued: the worker died before it started the task, or the host took the task back */
  assigned: ['queued', 'failed', 'decoding', 'settled'],
  /** No worker has the task, and the host calls `retry.when`. queued: the task runs again */
  failed: ['queued', 'settled'],
  /** The host decodes the large result in slices. */
  decoding: ['settled'],
  settled: [],
}

export function moveTask(task: { state: TaskState }, next: TaskState): void {
  moveState(taskStates, task, next, 'task')
}
