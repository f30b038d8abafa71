// What the part of an adapter that runs in workers may use beside `lido/worker`. Adapters bundle it.
import { workerData as threadData } from 'node:worker_threads'
import type { LogReceiver } from './api/log-receiver.js'
import { globalSymbol } from './shared/platform/global-symbol.js'

export type { LogReceiver } from './api/log-receiver.js'
export { type Carrier, runCarried } from './shared/context/carried.js'
export { serializeError } from './shared/errors/serialize-error.js'
export { move } from './shared/messages/move.js'
export { transferableSymbol, valueSymbol } from './shared/messages/moved.js'
export { ownFields } from './shared/options/option-table.js'
export { within } from './shared/platform/within.js'
export { workerClock } from './worker/run/clock.js'
export type { LogSink } from './worker/run/log-sender.js'
export { currentLogs, setTaskJob } from './worker/run/task-context.js'

const receiveLogsKey = globalSymbol('receiveLogs')

/**
 * Gives the lines that loggers in the workers of a pool write to the receiver, in place of an earlier one. Does not load `lido`.
 * @returns call it when the level of the receiver has changed. `null`: the object is no pool
 */
export function receiveLogs(pool: object, receiver: LogReceiver): (() => void) | null {
  const receive = (pool as Record<symbol, unknown>)[receiveLogsKey]
  return typeof receive === 'function' ? receive.call(pool, receiver) : null
}

/** The option `workerData`, without loading `lido/worker`, which costs each task its context. */
export function readWorkerData(): unknown {
  const globals = globalThis as Record<symbol, unknown>
  const ofProcess = globalSymbol('workerData')
  return ofProcess in globals ? globals[ofProcess] : threadData
}
