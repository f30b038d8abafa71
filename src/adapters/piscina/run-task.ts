// The options of a call, and the argument order of the calls before Piscina 3.1.
import type { Transferable as TransferItem } from 'node:worker_threads'
import type { AbortSignalAny } from './abort-signal.js'

export interface RunOptions {
  transferList?: readonly TransferItem[]
  filename?: string | null
  name?: string | null
  signal?: AbortSignalAny | null
}

/** `(transferList?, filename?, signal?)`, where a string or a signal in an earlier place shifts the rest. */
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
