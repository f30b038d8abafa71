// Reads primitives out of a region of shared memory, and nothing beyond the region's end whatever the bytes say.
import { CorruptMessageError } from './corrupt-message-error.js'
import {
  ArrayBufferIntrinsic,
  BigIntIntrinsic,
  bufferLength,
  latin1Slice,
  matches,
  min,
  substring,
  ucs2Slice,
  viewBytes,
  viewNumbers,
} from './intrinsics.js'
import { CHUNK_SPAN, type LongChunk, type LongMessage } from './long-message.js'
import * as tags from './tags.js'

/** Even, and more than a string that stands in the text. */
const WINDOW_BYTES = 512
const NOTHING = new ArrayBufferIntrinsic(0)
const READ: LongChunk = { bytes: NOTHING, used: 0, text: NOTHING, isWide: false }
const HEXADECIMAL = /^[0-9a-f]+$/

export class ByteReader {
  protected bytes: Buffer
  protected at = 0
  protected to = 0
  /** Bytes of the message that lie beyond `to`. */
  protected beyond = 0
  #view: DataView<ArrayBufferLike>
  /** `null`, unless the message is a long one. */
  #long: LongMessage | null = null
  #chunk = -1
  #textBytes: Buffer
  #isWide = false
  #textAt = 0
  #textTo = 0
  #window = ''
  #windowFrom = 0
  #windowTo = 0

  constructor(memory: ArrayBufferLike) {
    this.bytes = viewBytes(memory)
    this.#textBytes = this.bytes
    this.#view = viewNumbers(memory)
  }

  /** A buffer that comes beside a long message. */
  handed(number: number): ArrayBuffer {
    return this.#long?.buffers[number] ?? this.damaged('it names a buffer that is not there')
  }

  damaged(what: string): never {
    throw new CorruptMessageError(`${what} at byte ${this.at}`)
  }

  /** Moves behind so many bytes, and tells where they begin. */
  take(bytes: number): number {
    const { at } = this
    if (bytes > this.to - at) return this.#takeBeyond(bytes)
    this.at = at + bytes
    return at
  }

  #takeBeyond(bytes: number): number {
    if (!this.#openNext()) this.damaged('it ends too early')
    return this.take(bytes)
  }

  /** The byte that is next, or `END` where the message ends. */
  peek(): number {
    while (this.at === this.to) if (!this.#openNext()) return tags.END
    return this.bytes[this.at]!
  }

  /** Where the next value begins, as a long message notes it: never at the end of a chunk. */
  get position(): number {
    while (this.at === this.to && this.#openNext());
    return this.#chunk * CHUNK_SPAN + this.at
  }

  /** Bytes of a long message that are still to be read. */
  get bytesLeft(): number {
    return this.beyond + this.to - this.at
  }

  protected beginLong(long: LongMessage): void {
    this.#long = long
    this.beyond = 0
    for (const { bytes, used } of long.chunks) {
      if (!(used >= 0 && used <= bufferLength(bytes))) this.damaged('a chunk is too short')
      this.beyond += used
    }
    this.#chunk = -1
    this.at = 0
    this.to = 0
    this.#openNext()
  }

  /** What was written in one piece lies in one chunk, so the one before has been read to its end. */
  #openNext(): boolean {
    const next = this.#long?.chunks[this.#chunk + 1]
    if (next === undefined || this.at !== this.to) return false
    this.#chunk++
    // What was read is let go: the value grows while the message shrinks.
    if (this.#chunk > 0) this.#long!.chunks[this.#chunk - 1] = READ
    this.bytes = viewBytes(next.bytes)
    this.#view = viewNumbers(next.bytes)
    this.at = 0
    this.to = next.used
    this.beyond -= next.used
    this.#textBytes = viewBytes(next.text)
    this.#isWide = next.isWide
    this.#textAt = 0
    this.#textTo = bufferLength(next.text)
    this.#windowTo = 0
    return true
  }

  byte(): number {
    // The memory is asked for afterwards: it may be the next chunk's.
    const at = this.take(1)
    return this.bytes[at]!
  }

  uint32(): number {
    const at = this.take(4)
    return this.#view.getUint32(at, true)
  }

  int32(): number {
    const at = this.take(4)
    return this.#view.getInt32(at, true)
  }

  double(): number {
    const at = this.take(8)
    return this.#view.getFloat64(at, true)
  }

  bigint64(): bigint {
    const at = this.take(8)
    return this.#view.getBigInt64(at, true)
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
    this.#window = slice(this.#textBytes, from, this.#windowTo)
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
