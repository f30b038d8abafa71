// The door for handlers' modules.
import { type isWorkerThread, move, transferableSymbol, valueSymbol, type workerData } from 'lido/worker'
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

export default (size: number): ArrayBuffer => move(new ArrayBuffer(size))
export const draw = (): Picture => move(new Picture())
