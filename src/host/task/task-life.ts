// The states of a task.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

export type TaskState = 'queued' | 'assigned' | 'failed' | 'decoding' | 'settled'

export const taskStates: StateTable<TaskState> = {
  /** settled: cancelled, refused or cut off before a worker had it */
  queued: ['assigned', 'settled'],
  /** queued: its worker died before it started the task, or the host took the task back */
  assigned: ['queued', 'failed', 'decoding', 'settled'],
  /** no worker has it, and `retry.when` is called. queued: it will run again */
  failed: ['queued', 'settled'],
  /** its large result is being decoded in slices */
  decoding: ['settled'],
  settled: [],
}

export function moveTask(task: { state: TaskState }, next: TaskState): void {
  moveState(taskStates, task, next, 'task')
}
