// The public side of task contexts: how a handler learns that its task was cancelled. Tasks pay for it only after a module of
// this thread has imported `lido/worker`. That entry point must load quickly, so this file needs none of the worker's other code.

import type { TaskContext, TaskJob } from '../../api/task-context.js'
import { contextStorageOf } from '../../shared/context/parent-task.js'
import { AsyncLocalStorage } from '../../shared/platform/async-context.js'
import type { LogSink } from './log-sender.js'

/** The context of one task. The public context forwards to it. */
export interface RunningTaskContext extends Omit<TaskContext, 'call' | 'job'> {
  call(name: string, args: unknown[]): Promise<unknown>
  /** Set by the adapter that runs the job. */
  job: TaskJob | undefined
  /** Takes the lines that the handler logs. */
  readonly logs: LogSink
}

/** `logs` takes the lines that code outside tasks logs. It is missing on the host. */
export const contextStorage = contextStorageOf<RunningTaskContext>() as ReturnType<
  typeof contextStorageOf<RunningTaskContext>
> & { logs?: LogSink }

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

/**
 * @internal
 * Takes the lines of a logger: for the running task, or for this worker. `null` on the host, outside tasks of inline workers.
 */
export function currentLogs(): LogSink | null {
  return contextStorage.current?.getStore()?.logs ?? contextStorage.logs ?? null
}

function currentContext(
  storage: InstanceType<typeof AsyncLocalStorage<RunningTaskContext>>,
): RunningTaskContext {
  const current = storage.getStore()
  if (current !== undefined) return current
  const message =
    "'context' of lido/worker was used outside a task. Use it in a handler or in code that a handler calls, and import lido/worker at the top of the handler's file."
  throw Object.assign(new Error(message), { code: 'ERR_LIDO_OUTSIDE_TASK' })
}
