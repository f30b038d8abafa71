/**
 * The names that the module `workerpool` exports, over the workers of lido.
 * @module
 * @see [lido/workerpool](https://OWNER.github.io/lido/reference/workerpool.html)
 */

import { isMainThread as isMainOfThreads } from 'node:worker_threads'
import { cpus, type WorkerPoolOptions } from './options.js'
import { type Method, Transfer, type WorkerRegisterOptions, type WorkerSide, workerSide } from './orders.js'
import { Pool, TerminateError } from './pool.js'
import { WorkerpoolPromise } from './promise.js'

export type { WorkerArg, WorkerPoolOptions } from './options.js'
export type { WorkerRegisterOptions } from './orders.js'
export type { Pool, PoolStatistics, Proxy } from './pool.js'
export type { ExecOptions, Task, TaskQueue } from './queues.js'
export { cpus, TerminateError, Transfer, WorkerpoolPromise as Promise }

/** Always `'node'`. */
export const platform: 'node' | 'browser' = 'node'
/** False in worker threads, and in processes with a channel to their parent. */
export const isMainThread: boolean = isMainOfThreads && !process.connected

/** Creates a pool of workers. Without a script, workers run only functions that `exec()` gets. */
export function pool(options?: WorkerPoolOptions): Pool
export function pool(script?: string, options?: WorkerPoolOptions): Pool
export function pool(script?: string | WorkerPoolOptions, options?: WorkerPoolOptions): Pool {
  return new Pool(script, options)
}

/** Registers the methods of a worker. Call it in the script of a pool. */
export function worker(methods?: Record<string, Method>, options?: WorkerRegisterOptions): void {
  sideOfWorker().register(methods, options)
}

/** Sends an event to the option `on` of the call of the running method. */
export function workerEmit(payload: any): void {
  sideOfWorker().emit(payload)
}

function sideOfWorker(): WorkerSide {
  const side = (globalThis as { [workerSide]?: WorkerSide })[workerSide]
  if (side === undefined) throw new Error('Script must be executed as a worker')
  return side
}

/** The exports of this module. */
export default {
  pool,
  worker,
  workerEmit,
  Promise: WorkerpoolPromise,
  Transfer,
  platform,
  isMainThread,
  cpus,
  TerminateError,
}
