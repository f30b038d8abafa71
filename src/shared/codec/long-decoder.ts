// A long message to its value, in steps between which other work may be done. What was noted as big is put together here,
// container by container; all within it is read as in any other message.
import { Decoder } from './decoder.js'
import type { KnownShapes } from './known-shapes.js'
import { type Container, OPENED, openContainer } from './long-containers.js'
import type { LongMessage } from './long-message.js'

/** After so many bytes it is asked whether there is time for more; text is not counted. */
const STEP_BYTES = 2 ** 12

export class LongDecoder {
  readonly from: Decoder
  readonly #big: Float64Array
  readonly #stepBytes: number
  readonly #open: Container[] = []
  #nextBig = 0
  #stepEndsWith = 0
  #value: unknown = OPENED

  constructor(message: LongMessage, shapes: KnownShapes, stepBytes = STEP_BYTES) {
    this.from = new Decoder(message.big.buffer, shapes)
    this.#big = message.big
    this.#stepBytes = stepBytes
    this.from.beginMessage(message)
  }

  /** What was read, when all was. */
  get value(): unknown {
    return this.#value
  }

  /** Reads a step, and on while `mayGoOn`; true when all is read. Throws CorruptMessageError on damaged bytes. */
  readOn(mayGoOn: () => boolean): boolean {
    this.from.lookAnew()
    do {
      this.#stepEndsWith = this.from.bytesLeft - this.#stepBytes
      if (this.#readStep()) return true
    } while (mayGoOn())
    return false
  }

  #readStep(): boolean {
    const open = this.#open
    if (open.length === 0) {
      this.#value = this.next()
      return this.#value !== OPENED
    }
    const innermost = open[open.length - 1]!
    if (!innermost.readOn(this)) return false
    open.length--
    if (open.length > 0) open[open.length - 1]!.add(innermost.value)
    else this.#value = innermost.value
    return open.length === 0
  }

  /** The step is over. */
  get isDue(): boolean {
    return this.from.bytesLeft <= this.#stepEndsWith
  }

  /** What comes next is big. */
  get isBigNext(): boolean {
    const { position } = this.from
    while (this.#big[this.#nextBig]! < position) this.#nextBig++
    return this.#big[this.#nextBig] === position
  }

  /** The next value, or `OPENED`. */
  next(): unknown {
    if (!this.isBigNext) return this.from.read()
    this.#nextBig++
    const container = openContainer(this.from)
    if (container === null) return this.from.read()
    this.#open[this.#open.length] = container
    return OPENED
  }
}
