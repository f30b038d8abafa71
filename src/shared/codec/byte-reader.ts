// Reads primitives out of a region of shared memory, and nothing beyond the region's end whatever the bytes say.
import { CorruptMessageError } from './corrupt-message-error.js'
import {
  BigIntIntrinsic,
  latin1Slice,
  matches,
  min,
  substring,
  ucs2Slice,
  viewBytes,
  viewNumbers,
} from './intrinsics.js'
import * as tags from './tags.js'

/** Even, and more than a string that stands in the text. */
const WINDOW_BYTES = 512
const HEXADECIMAL = /^[0-9a-f]+$/

export class ByteReader {
  protected readonly bytes: Buffer
  protected at = 0
  protected to = 0
  readonly #view: DataView<SharedArrayBuffer>
  #isWide = false
  #textAt = 0
  #textTo = 0
  #window = ''
  #windowFrom = 0
  #windowTo = 0

  constructor(memory: SharedArrayBuffer) {
    this.bytes = viewBytes(memory)
    this.#view = viewNumbers(memory)
  }

  damaged(what: string): never {
    throw new CorruptMessageError(`${what} at byte ${this.at}`)
  }

  /** Moves behind so many bytes, and tells where they begin. */
  take(bytes: number): number {
    const { at } = this
    if (bytes > this.to - at) this.damaged('it ends too early')
    this.at = at + bytes
    return at
  }

  byte(): number {
    return this.bytes[this.take(1)]!
  }

  uint32(): number {
    return this.#view.getUint32(this.take(4), true)
  }

  int32(): number {
    return this.#view.getInt32(this.take(4), true)
  }

  double(): number {
    return this.#view.getFloat64(this.take(8), true)
  }

  bigint64(): bigint {
    return this.#view.getBigInt64(this.take(8), true)
  }

  protected begin(from: number, to: number): number {
    this.at = from
    this.to = to
    const head = this.uint32()
    const offset = this.uint32()
    const size = head >>> 8
    if (offset > to - from || size > to - from - offset) this.damaged('its text is elsewhere')
    this.#isWide = (head & tags.WIDE_TEXT) !== 0
    this.#textAt = from + offset
    this.#textTo = this.#textAt + size
    this.#windowTo = this.#textAt
    return head & 0xff & ~tags.WIDE_TEXT
  }

  /** The next characters of the message's text. */
  text(length: number): string {
    const from = this.#textAt
    const to = from + (this.#isWide ? length * 2 : length)
    if (to > this.#windowTo) this.#openWindow(from, to)
    this.#textAt = to
    const start = this.#isWide ? (from - this.#windowFrom) >> 1 : from - this.#windowFrom
    return substring(this.#window, start, start + length)
  }

  /**
   * The runtime makes strings of bytes best in bulk, and a part of a string at next to no cost: but the part keeps the
   * whole alive, so the whole is kept small.
   */
  #openWindow(from: number, to: number): void {
    if (to > this.#textTo) this.damaged('its text is too short')
    this.#windowFrom = from
    this.#windowTo = min(this.#textTo, from + WINDOW_BYTES)
    const slice = this.#isWide ? ucs2Slice : latin1Slice
    this.#window = slice(this.bytes, from, this.#windowTo)
  }

  latin1(length: number): string {
    const from = this.take(length)
    return latin1Slice(this.bytes, from, from + length)
  }

  utf16(size: number): string {
    if (size & 1) this.damaged('half a character')
    const from = this.take(size)
    return ucs2Slice(this.bytes, from, from + size)
  }

  bigint(isNegative: boolean, digits: unknown): bigint {
    if (typeof digits !== 'string' || matches(HEXADECIMAL, digits) === null) this.damaged('no digits')
    const size = BigIntIntrinsic(`0x${digits}`)
    return isNegative ? -size : size
  }
}
