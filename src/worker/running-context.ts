// The context of a task that runs here. Nothing of it is made before the handler asks.
import { TaskCancelledError, withCallerFrames } from '../shared/errors/pool-errors.js'
import type { Assignment } from './assignment.js'
import type { TaskContext } from './task-context.js'

export class RunningContext implements TaskContext {
  readonly #task: Assignment
  #signal: AbortSignal | null = null

  constructor(task: Assignment) {
    this.#task = task
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#task.makeSignal()
    return this.#signal
  }

  get cancelled(): boolean {
    return this.#task.isCancelled
  }

  throwIfCancelled(): void {
    if (!this.#task.isCancelled) return
    throw withCallerFrames(new TaskCancelledError(this.#task.cancelReason), this.throwIfCancelled)
  }
}
