// Tells when a task is over: it has settled, and no worker has it any more. A cancelled task whose handler still runs is not over.
import type { Task } from './task.js'

export interface TaskEndListener {
  onOver(task: Task): void
}

export class TaskEnds {
  /** `null` until somebody waits for the ends of tasks. Until then they cost one comparison. */
  listener: TaskEndListener | null = null
  /** True while the task has a ticket. `createCore()` sets it. */
  isPosted: (task: Task) => boolean = () => false

  /** Call it when the task has settled. */
  onSettled(task: Task): void {
    if (!this.isPosted(task)) this.listener!.onOver(task)
  }

  /** Call it when the ticket of the task is free again. */
  onReleased(task: Task): void {
    if (task.state === 'settled') this.listener!.onOver(task)
  }
}
