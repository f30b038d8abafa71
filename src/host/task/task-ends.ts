// Tells when a task is over: it has settled, and no worker has it any more. A cancelled task whose handler still runs is not over. A task of
// a killed worker is not over before that worker has ended.
import type { Task } from './task.js'

export interface TaskEndListener {
  onOver(task: Task): void
  /** The task runs again, and the worker of its last run has ended only now. */
  onRunEnded(task: Task): void
}

export class TaskEnds {
  /** `null` in a pool that has used neither keys nor groups. The end of a task then costs one comparison. */
  listener: TaskEndListener | null = null
  /** True while the task has a ticket. `createCore()` sets it. */
  isPosted: (task: Task) => boolean = () => false
  /** The tasks of killed workers that have not ended, with the ids of the workers. */
  readonly #killed = new Map<Task, number>()

  /** Call it when the task has settled. */
  onSettled(task: Task): void {
    if (!this.isPosted(task) && !this.mayRun(task)) this.listener!.onOver(task)
  }

  /** Call it when the ticket of the task is free again. */
  onReleased(task: Task): void {
    if (task.state === 'settled' && !this.mayRun(task)) this.listener!.onOver(task)
  }

  /** Call it before the host takes the task from a worker that it kills. The worker may run the task until it has ended. */
  onKilled(task: Task, workerId: number): void {
    if (this.listener !== null) this.#killed.set(task, workerId)
  }

  /** Call it when the worker has ended. */
  onGone(workerId: number): void {
    for (const [task, killedId] of this.#killed) {
      if (killedId !== workerId) continue
      this.#killed.delete(task)
      if (task.state !== 'settled') this.listener!.onRunEnded(task)
      else if (!this.isPosted(task)) this.listener!.onOver(task)
    }
  }

  /** True while a killed worker may still run the task. */
  mayRun(task: Task): boolean {
    return this.#killed.size > 0 && this.#killed.has(task)
  }
}
