// The options of `run()`, and the argument order of `runTask()` before Piscina 3.1.
import type { Transferable as TransferItem } from 'node:worker_threads'
import type { AbortSignalAny } from './abort-signal.js'

/** The options of `run()`. */
export interface RunOptions {
  /** Parts of the task that are transferred, not copied. */
  transferList?: readonly TransferItem[]
  /** The module with the handler. Default: the pool's. */
  filename?: string | null
  /** The name of the export that is the handler. Default: the pool's. */
  name?: string | null
  /** Aborting it rejects the call and ends the thread of a running task. */
  signal?: AbortSignalAny | null
}

/** Reads `(transferList?, filename?, signal?)`. A string or a signal in an earlier place shifts the others. */
export function shiftArguments(rest: unknown[]): RunOptions {
  let [transferList, filename, signal] = rest
  if (isSignal(transferList)) {
    signal = transferList
    filename = undefined
    transferList = undefined
  }
  if (typeof transferList === 'string') {
    signal = filename
    filename = transferList
    transferList = undefined
  }
  if (isSignal(filename)) {
    signal = filename
    filename = undefined
  }
  if (transferList !== undefined && !Array.isArray(transferList)) {
    throw new TypeError('transferList argument must be an Array')
  }
  if (filename !== undefined && filename !== null && typeof filename !== 'string') {
    throw new TypeError('filename argument must be a string')
  }
  if (signal !== undefined && signal !== null && typeof signal !== 'object') {
    throw new TypeError('signal argument must be an object')
  }
  return { transferList, filename, signal } as RunOptions
}

function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
