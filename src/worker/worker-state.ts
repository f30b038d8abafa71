// What a module may know of the worker it runs in. Read from `globalThis`, so that every copy of this package sees the same.
import { workerData as threadData } from 'node:worker_threads'
import { globalSymbol } from '../shared/platform/global-symbol.js'
import { readAgainLater } from './early-readers.js'

const worker = globalSymbol('worker')
/** Where a worker that is a process has it. */
const processData = globalSymbol('workerData')

/** True inside a worker of a pool, false everywhere else. */
export let isWorkerThread: boolean = false
/** The pool's `workerData`; `undefined` outside a pool's worker. */
export let workerData: any

read()
if (!isWorkerThread) readAgainLater(read)

function read(): void {
  const known = globalThis as Record<symbol, unknown>
  isWorkerThread = known[worker] === true
  if (isWorkerThread) workerData = processData in known ? known[processData] : threadData
}
