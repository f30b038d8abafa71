// The context of a running task.
import type { AsyncLocalStorage } from 'node:async_hooks'
import { TaskCancelledError } from '../shared/errors/pool-errors.js'
import type { Assignment } from './assignment.js'
import type { HandlerFunction } from './handler-loader.js'
import type { TaskContext } from './task-context.js'

/** Calls the handler. All that it starts sees the task's context. */
export function callInContext(
  storage: AsyncLocalStorage<TaskContext>,
  task: Assignment,
  handler: HandlerFunction,
): unknown {
  const { payload } = task
  // A timer or a socket that outlives the task keeps its context alive, but must not keep its payload.
  task.payload = undefined
  return storage.run(new RunningContext(task), () => handler(payload))
}

class RunningContext implements TaskContext {
  readonly #task: Assignment
  #signal: AbortSignal | null = null

  constructor(task: Assignment) {
    this.#task = task
  }

  /** Created when the handler first asks for it. */
  get signal(): AbortSignal {
    this.#signal ??= this.#task.makeSignal()
    return this.#signal
  }

  get cancelled(): boolean {
    return this.#task.isCancelled
  }

  throwIfCancelled(): void {
    if (this.#task.isCancelled) throw new TaskCancelledError(this.#task.cancelReason)
  }
}
