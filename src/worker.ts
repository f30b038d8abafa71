/**
 * For the modules of handlers: the running task, `move()`, `carry()` and `workerData`.
 * @module
 * @see [lido/worker](https://OWNER.github.io/lido/reference/worker.html)
 */

import { workerData as threadData } from 'node:worker_threads'
import type { TaskContext } from './api/task-context.js'
import { globalSymbol } from './shared/platform/global-symbol.js'
import { enableTaskContext } from './worker/run/task-context.js'
import { onTeardown as addTeardown } from './worker/run/teardown-callbacks.js'

export type { Carried, CarryOptions } from './api/carry.js'
export type { HandlerMessage, PoolIdentity, TaskMessage } from './api/channels.js'
export type { Handler, TaskContext, TaskJob } from './api/task-context.js'
export { carry } from './shared/context/carry.js'
export { move } from './shared/messages/move.js'
export { transferableSymbol, valueSymbol } from './shared/messages/moved.js'

/**
 * The running task, for its handler: whether it is cancelled, its progress, calls of the caller's functions.
 *
 * It is always the task whose handler runs the code, also after an await, in timers and callbacks, and with several tasks in one
 * worker. Outside a task, for example on the host or at the top level of a module, each member throws an error with the code
 * `ERR_LIDO_OUTSIDE_TASK`.
 * @example
 * context.throwIfCancelled()
 * context.progress(0.5)
 * @see [context](https://OWNER.github.io/lido/reference/worker.html#context)
 */
export const context: TaskContext = enableTaskContext()

/**
 * Calls back before the worker stops, and waits for the promise. For libraries: the module of a handler can export `teardown` instead.
 * Callbacks run after all `teardown` exports, in the cases and within the time of these. Inline workers share their thread: the callbacks
 * run when the last of them stops. Outside a worker nothing calls back.
 * @returns a function that removes the callback
 */
export const onTeardown: (callback: () => unknown) => () => void = addTeardown

const globals = globalThis as Record<symbol, unknown>
/** The entry of a worker process sets it. */
const processDataKey = globalSymbol('workerData')

/** True in a worker thread or worker process of a pool. False elsewhere, and for inline workers. */
export const isWorkerThread: boolean = globals[globalSymbol('worker')] === true
/** A copy of the pool's option `workerData`. `undefined` outside a worker thread or worker process of a pool. */
export const workerData: any = isWorkerThread ? readWorkerData() : undefined

/** Handles are replaced by what they stand for. */
function readWorkerData(): unknown {
  const data = processDataKey in globals ? globals[processDataKey] : threadData
  const replaceIn = globals[globalSymbol('replaceHandles')] as ((given: unknown) => unknown) | undefined
  return replaceIn === undefined ? data : replaceIn(data)
}
