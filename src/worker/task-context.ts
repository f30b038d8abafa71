// How a handler learns that its task was cancelled. Importing this module switches contexts on for the whole thread.
import { AsyncLocalStorage } from 'node:async_hooks'
import { contextStorage } from './context-storage.js'

export interface TaskContext {
  /**
   * Aborts when the task is cancelled. Pass it to `fetch()`, streams and timers. Its reason is the reason of the caller's
   * signal. After a time limit it is an error named `TimeoutError`, with the fields of the caller's `TaskTimeoutError`.
   * The worker hears of the abort by a message, so the signal of a handler that blocks its thread does not change.
   */
  readonly signal: AbortSignal
  /** True once the task is cancelled. Read from memory shared with the host, so a handler that never awaits sees it too. */
  readonly cancelled: boolean
  /** Throws `TaskCancelledError` once the task is cancelled. Its `reason` is that of `signal`. */
  throwIfCancelled(): void
}

/** A function that a pool's file exports. It gets exactly what the caller passed to `run()`. */
export type Handler<Payload = any, Result = unknown> = (payload: Payload) => Result | Promise<Result>

contextStorage.current ??= new AsyncLocalStorage()
const storage = contextStorage.current

/**
 * The task whose handler this code belongs to. Works in the handler, after its awaits, and in timers and callbacks that it
 * started, also when the worker runs several tasks at once. Code that runs on after the answer still gets its own task.
 * Outside a task, as on the main thread or at the top level of a module, each member throws `ERR_LIDO_OUTSIDE_TASK`.
 */
export const context: TaskContext = {
  get signal() {
    return currentContext().signal
  },
  get cancelled() {
    return currentContext().cancelled
  },
  throwIfCancelled() {
    try {
      currentContext().throwIfCancelled()
    } catch (error) {
      // The stack begins in the handler.
      Error.captureStackTrace(error as Error, context.throwIfCancelled)
      throw error
    }
  },
}

function currentContext(): TaskContext {
  const current = storage.getStore()
  if (current !== undefined) return current
  const message =
    "'context' of lido/worker was used outside a task. Use it in a handler or in code that a handler calls, and import lido/worker at the top of the handler's file."
  throw Object.assign(new Error(message), { code: 'ERR_LIDO_OUTSIDE_TASK' })
}
