// lido/worker, for handler modules.
import {
  context,
  type Handler,
  type isWorkerThread,
  move,
  type TaskContext,
  transferableSymbol,
  valueSymbol,
  type workerData,
} from 'lido/worker'
import { isTrue, type Same } from './checks.mjs'

isTrue<Same<typeof isWorkerThread, boolean>>()
isTrue<Same<typeof workerData, any>>()

class Picture {
  readonly pixels = new Uint8Array(8)

  get [transferableSymbol](): ArrayBuffer {
    return this.pixels.buffer
  }

  get [valueSymbol](): { pixels: Uint8Array } {
    return { pixels: this.pixels }
  }
}

// A handler gets its payload alone. It imports its context.
isTrue<Same<typeof context, TaskContext>>()
export const patient: Handler<string, number> = async text => {
  isTrue<Same<typeof context.signal, AbortSignal>>()
  isTrue<Same<typeof context.cancelled, boolean>>()
  context.throwIfCancelled()
  // @ts-expect-error cancelled is read-only
  context.cancelled = true
  return text.length
}
export const plain: Handler<number, number> = size => size
// @ts-expect-error a handler gets one argument
export const two: Handler<number, number> = (size, factor: number) => size * factor
// @ts-expect-error a number is no text
export const wrong: Handler<number, string> = size => size

export default (size: number): ArrayBuffer => move(new ArrayBuffer(size))
export const draw = (): Picture => move(new Picture())
