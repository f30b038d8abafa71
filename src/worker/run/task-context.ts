// The public side of task contexts: how a handler learns that its task was cancelled. Tasks pay for it only after a module of
// this thread has imported `lido/worker`. That entry point must load quickly, so this file needs none of the worker's other code.
import { AsyncLocalStorage } from 'node:async_hooks'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

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

interface ContextStorage {
  /** `null` until a module of this thread imports `lido/worker`. */
  current: AsyncLocalStorage<TaskContext> | null
}

const storageKey = globalSymbol('contextStorage')
const ownStorage: ContextStorage = { current: null }
// Changes nothing if another copy of this package defined it before.
Reflect.defineProperty(globalThis, storageKey, { value: ownStorage })

/** Stored on `globalThis`, so that all copies of this package in this thread share it. */
export const contextStorage: ContextStorage =
  (globalThis as unknown as Record<symbol, ContextStorage | undefined>)[storageKey] ?? ownStorage

/** Switches contexts on for this thread. The returned object forwards to the context of the task that uses it. */
export function enableTaskContext(): TaskContext {
  contextStorage.current ??= new AsyncLocalStorage()
  const storage = contextStorage.current
  const context: TaskContext = {
    get signal() {
      return currentContext(storage).signal
    },
    get cancelled() {
      return currentContext(storage).cancelled
    },
    throwIfCancelled() {
      try {
        currentContext(storage).throwIfCancelled()
      } catch (error) {
        // The stack begins in the handler.
        Error.captureStackTrace(error as Error, context.throwIfCancelled)
        throw error
      }
    },
  }
  return context
}

function currentContext(storage: AsyncLocalStorage<TaskContext>): TaskContext {
  const current = storage.getStore()
  if (current !== undefined) return current
  const message =
    "'context' of lido/worker was used outside a task. Use it in a handler or in code that a handler calls, and import lido/worker at the top of the handler's file."
  throw Object.assign(new Error(message), { code: 'ERR_LIDO_OUTSIDE_TASK' })
}
