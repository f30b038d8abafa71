// What a module may know of the worker it runs in. Read from `globalThis`, so that every copy of this package sees the same.
import { workerData as threadData } from 'node:worker_threads'
import { brandOf } from '../shared/base/brand.js'

/** True inside a worker of a pool, false everywhere else. */
export const isWorkerThread: boolean = (globalThis as Record<symbol, unknown>)[brandOf('worker')] === true

/** Where a worker that is a process has it. */
const processData = brandOf('workerData')

/** The pool's `workerData`; `undefined` outside a pool's worker. */
export const workerData: any = !isWorkerThread
  ? undefined
  : processData in globalThis
    ? (globalThis as Record<symbol, unknown>)[processData]
    : threadData
