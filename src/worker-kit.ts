// What the part of an adapter that runs in workers may use beside `lido/worker`. Adapters bundle it.
import { workerData as threadData } from 'node:worker_threads'
import { globalSymbol } from './shared/platform/global-symbol.js'

export { type Carrier, runCarried } from './shared/context/carried.js'
export { serializeError } from './shared/errors/serialize-error.js'
export { move } from './shared/messages/move.js'
export { transferableSymbol, valueSymbol } from './shared/messages/moved.js'
export { ownFields } from './shared/options/option-table.js'
export { within } from './shared/platform/within.js'
export { workerClock } from './worker/run/clock.js'
export { setTaskJob } from './worker/run/task-context.js'

/** The option `workerData`, without loading `lido/worker`, which costs each task its context. */
export function readWorkerData(): unknown {
  const globals = globalThis as Record<symbol, unknown>
  const ofProcess = globalSymbol('workerData')
  return ofProcess in globals ? globals[ofProcess] : threadData
}
