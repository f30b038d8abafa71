/**
 * Tinypool's class over the workers of lido, and the names that the module `tinypool` exports.
 * @module
 * @see [lido/tinypool](https://OWNER.github.io/lido/reference/tinypool.html)
 */

import { tinypoolState } from './orders.js'
import { Tinypool } from './tinypool.js'

export {
  isMovable,
  isTransferable,
  kTransferable,
  kValue,
  markMovable,
  type Transferable,
} from './movable.js'
export type { FilledOptions, Options } from './options.js'
export type { TinypoolState } from './orders.js'
export { isTaskQueue, kQueueOptions, type Task, type TaskQueue } from './task-queue.js'
export type { RunOptions } from './tinypool.js'
export type { TinypoolChannel, TinypoolWorker } from './workers.js'
export { Tinypool, Tinypool as default }

/** The messages of Tinypool's own protocol have this form. A program ignores them. */
export interface TinypoolWorkerMessage<T extends 'port' | 'pool' = 'port' | 'pool'> {
  __tinypool_worker_message__: true
  source: T
}

/** From 1 to `maxThreads`, in a worker. `undefined` elsewhere. */
export const workerId: number = tinypoolState()?.workerId as number

// Names of Tinypool's protocol. They have no use here, but programs may import them.
/** Has no use here. */
export const kRequestCountField = 0
/** Has no use here. */
export const kResponseCountField = 1
/** Has no use here. */
export const kFieldCount = 2

/** Copies an object to one without a prototype. */
export function withNullPrototype<T extends object>(source: T): T {
  return Object.assign(Object.create(null), source)
}
