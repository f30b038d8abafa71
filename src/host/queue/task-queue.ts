// The port of a queue: where tasks wait. A user's own queue implements this and nothing more.
import type { QueuedTask } from '../task/queued-task.js'

export interface TaskQueue {
  /** How many tasks wait. */
  readonly size: number
  /** The most it can hold, where it has such a limit; `maxQueue` is lowered to it. */
  readonly capacity?: number
  push(task: QueuedTask): void
  /** Takes out the next task to run, and returns it at once: the very object that `push` was given. */
  shift(): QueuedTask | null | undefined
  /**
   * Puts a task that `shift` gave back to where it was: no worker can take it yet, or it is to run again. A queue without
   * this method is not asked again before that task was placed.
   */
  unshift?(task: QueuedTask): void
  /** Takes out a task that was cancelled; a task that is not there is no error. */
  remove(task: QueuedTask): void
}
