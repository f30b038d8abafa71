// The facts about this worker that a handler's module can read. They are stored on `globalThis`, so that all copies of this
// package share them.
import { workerData as threadData } from 'node:worker_threads'
import { globalSymbol } from '../shared/platform/global-symbol.js'

const globals = globalThis as Record<symbol, unknown>
/** Set in a worker that is a process. */
const processData = globalSymbol('workerData')

/** True inside a worker of a pool, false everywhere else. */
export const isWorkerThread: boolean = globals[globalSymbol('worker')] === true
/** The pool's `workerData`; `undefined` outside a pool's worker. */
export const workerData: any = !isWorkerThread
  ? undefined
  : processData in globals
    ? globals[processData]
    : threadData
