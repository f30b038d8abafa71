// The life of a task as a table, and the one function that moves it.
import { invariant } from '../../shared/platform/invariant.js'

export type TaskState = 'queued' | 'assigned' | 'failed' | 'arriving' | 'settled'

export const taskMoves = {
  /** settled: cancelled, refused or cut off before a worker had it */
  queued: ['assigned', 'settled'],
  /** queued: its worker died before it began the task, or it was taken back */
  assigned: ['queued', 'failed', 'arriving', 'settled'],
  /** no worker has it any more, and its `retry` is asked. queued: it is to run again */
  failed: ['queued', 'settled'],
  /** its large result is here, and read in slices */
  arriving: ['settled'],
  settled: [],
} as const satisfies Record<TaskState, readonly TaskState[]>

export function moveTask(task: { state: TaskState }, next: TaskState): void {
  const legal: readonly TaskState[] = taskMoves[task.state]
  if (!legal.includes(next)) {
    invariant(false, `a task moves from ${task.state} to one of [${legal.join(', ')}], not to ${next}`)
  }
  task.state = next
}
