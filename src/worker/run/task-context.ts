// The public side of task contexts: how a handler learns that its task was cancelled. Tasks pay for it only after a module of
// this thread has imported `lido/worker`. That entry point must load quickly, so this file needs none of the worker's other code.
import { AsyncLocalStorage } from 'node:async_hooks'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

/** Tells a handler whether its task is cancelled. */
export interface TaskContext {
  /**
   * Aborts when the task is cancelled. Pass it to `fetch()`, streams and timers. The reason is the reason of the caller's signal. After
   * a time limit, it is an error with the name `TimeoutError` and the fields of the caller's `TaskTimeoutError`. A message aborts
   * the signal, so it does not change while a handler blocks its thread.
   */
  readonly signal: AbortSignal
  /**
   * True once the task is cancelled. A thread reads it from shared memory, so it also changes during a loop that never awaits. In a
   * process it changes only after an await.
   */
  readonly cancelled: boolean
  /** Throws a `TaskCancelledError` once the task is cancelled. The `reason` of the error is the reason of `signal`. */
  throwIfCancelled(): void
  /**
   * Sends a value to the `onProgress` function of the caller. Never waits. While the caller has not handled the last value, a new
   * value replaces the one that waits. The newest value arrives before the result. Throws `DataCloneError` for a value that cannot
   * be copied. Without `onProgress`, the value is ignored.
   */
  progress(value: unknown): void
  /**
   * Calls a function that the caller gave in the option `functions` of its call. Resolves with the result of the function. Rejects
   * with the error that the function throws, with a `TypeError` when there is no function of that name, with `TaskCancelledError`
   * when the task is cancelled, and with `DataCloneError` for an argument that cannot be copied. Arguments and results are copied as
   * by `structuredClone()`. While the handler waits, its worker may run the tasks that the function submits. With
   * `concurrentTasksPerWorker` above 1, it may run any task.
   */
  call<Result = any>(name: string, ...args: unknown[]): Promise<Result>
  /** The job of a queue that the task belongs to, with `lido/bullmq`. `undefined` for other tasks. */
  readonly job: TaskJob | undefined
}

/** The job of a queue that runs as this task. */
export interface TaskJob {
  readonly id: string
  /** The name of the job, which is also the name of the handler. */
  readonly name: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Adds a line to the log of the job. Resolves when the queue has it. */
  log(line: string): Promise<void>
}

/** The context of one task. The public context forwards to it. */
export interface RunningTaskContext extends Omit<TaskContext, 'call' | 'job'> {
  call(name: string, args: unknown[]): Promise<unknown>
  /** Set by the adapter that runs the job. */
  job: TaskJob | undefined
}

/** A function that the handler's module exports. It gets one argument: a copy of the payload that the caller passed to `run()`. */
export type Handler<Payload = any, Result = unknown> = (payload: Payload) => Result | Promise<Result>

interface ContextStorage {
  /** `null` until a module of this thread imports `lido/worker`. */
  current: AsyncLocalStorage<RunningTaskContext> | null
}

const storageKey = globalSymbol('contextStorage')
const ownStorage: ContextStorage = { current: null }
// Changes nothing if another copy of this package defined it before.
Reflect.defineProperty(AsyncLocalStorage, storageKey, { value: ownStorage })

/**
 * Stored on a class of Node, so that all copies of this package in this thread share it. Each `vm` context, as in Jest, has its own
 * `globalThis`.
 */
export const contextStorage: ContextStorage =
  (AsyncLocalStorage as unknown as Record<symbol, ContextStorage | undefined>)[storageKey] ?? ownStorage

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
    progress(value) {
      currentContext(storage).progress(value)
    },
    call<Result>(name: string, ...args: unknown[]) {
      return currentContext(storage).call(name, args) as Promise<Result>
    },
    get job() {
      return currentContext(storage).job
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

/**
 * @internal
 * Adapters call it in the task of a job, before its handler.
 */
export function setTaskJob(job: TaskJob): void {
  const current = contextStorage.current?.getStore()
  if (current !== undefined) current.job = job
}

function currentContext(storage: AsyncLocalStorage<RunningTaskContext>): RunningTaskContext {
  const current = storage.getStore()
  if (current !== undefined) return current
  const message =
    "'context' of lido/worker was used outside a task. Use it in a handler or in code that a handler calls, and import lido/worker at the top of the handler's file."
  throw Object.assign(new Error(message), { code: 'ERR_LIDO_OUTSIDE_TASK' })
}
