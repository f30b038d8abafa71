// The entry point `lido/worker`, for the modules of handlers: `import { move } from 'lido/worker'`.
import { workerData as threadData } from 'node:worker_threads'
import { globalSymbol } from './shared/platform/global-symbol.js'
import { enableTaskContext, type TaskContext } from './worker/run/task-context.js'

export { move, transferableSymbol, valueSymbol } from './shared/messages/move.js'
export type { Handler, TaskContext } from './worker/run/task-context.js'

/**
 * The task whose handler this code belongs to. Works in the handler, after its awaits, and in timers and callbacks that it
 * started, also when the worker runs several tasks at once. Code that runs on after the answer still gets its own task.
 * Outside a task, as on the main thread or at the top level of a module, each member throws `ERR_LIDO_OUTSIDE_TASK`.
 */
export const context: TaskContext = enableTaskContext()

const globals = globalThis as Record<symbol, unknown>
/** The entry of a worker process sets it. */
const processDataKey = globalSymbol('workerData')

/** True inside a worker of a pool, false everywhere else. */
export const isWorkerThread: boolean = globals[globalSymbol('worker')] === true
/** The pool's `workerData`; `undefined` outside a pool's worker. */
export const workerData: any = isWorkerThread ? readWorkerData() : undefined

function readWorkerData(): unknown {
  return processDataKey in globals ? globals[processDataKey] : threadData
}
