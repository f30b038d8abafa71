// The public side of task contexts: how a handler learns that its task was cancelled. Tasks pay for it only after a module of
// this thread has imported `lido/worker`. That entry point must load quickly, so this file needs none of the worker's other code.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { TaskContext, TaskJob } from '../../api/task-context.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

/** The context of one task. The public context forwards to it. */
export interface RunningTaskContext extends Omit<TaskContext, 'call' | 'job'> {
  call(name: string, args: unknown[]): Promise<unknown>
  /** Set by the adapter that runs the job. */
  job: TaskJob | undefined
}

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
    get deadline() {
      return currentContext(storage).deadline
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
