// Reads primitives from a region of shared memory, or from the chunks of a large message. Never reads beyond their end,
// even if the bytes are damaged.
import * as format from './format.js'

/** An even number, and longer than any string in the text. */
const WINDOW_BYTES = 512
const HEXADECIMAL = /^[0-9a-f]+$/

export abstract class Reader {
  protected bytes: format.StringBuffer
  #view: DataView
  protected at = 0
  /** The end of the values. */
  protected to = 0
  /** Bytes in the chunks after the current one. */
  #laterBytes = 0
  #message: format.LargeMessage | null = null
  /** Bytes of values in the chunks before the current one. */
  #earlierBytes = 0
  #nextLarge = 0
  #stepBytes = 0
  #stepEnd = 0
  #isWide = false
  #textAt = 0
  #textTo = 0
  #window = ''
  #windowFrom = 0
  #windowTo = 0

  constructor(memory: ArrayBufferLike) {
    this.bytes = format.bufferOver(memory)
    this.#view = new DataView(memory)
  }

  /** Reads a value of any kind. */
  abstract read(): unknown

  /** Gives an object the next number. The order is the same as in the encoder. */
  abstract register<T>(object: T): T

  /** Reserves the number of an object that can only be created after its parts. */
  abstract reserve(): number

  /** Assigns the reserved number to the object. */
  abstract replace(number: number, object: object): void

  /** Reads the header of a message and returns its mode. */
  protected beginMessage(from: number, to: number): number {
    this.at = from
    this.to = to
    const head = this.uint32()
    const offset = this.uint32()
    const textBytes = head >>> 8
    if (offset < format.HEADER_BYTES || offset > to - from || textBytes > to - from - offset)
      this.damaged('its text is outside the message')
    this.to = from + offset
    this.#isWide = (head & format.WIDE_TEXT) !== 0
    this.#textAt = this.to
    this.#textTo = this.to + textBytes
    this.#windowTo = this.to
    return head & 0xff & ~format.WIDE_TEXT
  }

  protected beginLarge(message: format.LargeMessage, stepBytes: number): void {
    this.#message = message
    this.#stepBytes = stepBytes
    this.#stepEnd = stepBytes
    for (const { byteLength } of message.chunks) this.#laterBytes += byteLength
    this.#openChunk()
  }

  /** Returns false when there is no further chunk, or when this one has bytes left. */
  #openChunk(): boolean {
    if (this.at !== this.to) return false
    // Removes the chunk from the message, so that its memory can be collected before the value is complete.
    const chunk = this.#message?.chunks.shift()
    if (chunk === undefined) return false
    this.#earlierBytes += this.to
    this.#laterBytes -= chunk.byteLength
    this.bytes = format.bufferOver(chunk)
    this.#view = new DataView(chunk)
    this.beginMessage(0, chunk.byteLength)
    this.#earlierBytes -= this.at
    return true
  }

  damaged(problem: string): never {
    throw new format.CorruptMessageError(`${problem} at byte ${this.at}`)
  }

  /** The number of value bytes of a large message that were read. */
  protected get position(): number {
    return this.#earlierBytes + this.at
  }

  /** True when the next value is marked as large. Call it once for each value. */
  protected isLargeNext(): boolean {
    const { position } = this
    const { large } = this.#message!
    // Skips marks inside values that were read without a pause.
    while (large[this.#nextLarge]! < position) this.#nextLarge++
    if (large[this.#nextLarge] !== position) return false
    this.#nextLarge++
    return true
  }

  /** True when the step has read its bytes. Also starts the next step. */
  protected isStepOver(): boolean {
    if (this.position < this.#stepEnd) return false
    this.#stepEnd = this.position + this.#stepBytes
    return true
  }

  /** The end of the step or the start of the next large value. Call it after `isLargeNext`. */
  protected get nextPause(): number {
    const nextLarge = this.#message!.large[this.#nextLarge]!
    return nextLarge < this.#stepEnd ? nextLarge : this.#stepEnd
  }

  /** An upper limit for the bytes of values that are left. */
  protected get bytesLeft(): number {
    return this.#laterBytes + this.to - this.at
  }

  /** Moves past this many bytes, which are in one chunk, and returns their start. */
  take(bytes: number): number {
    const { at } = this
    if (bytes > this.to - at) return this.#takeFromNext(bytes)
    this.at = at + bytes
    return at
  }

  #takeFromNext(bytes: number): number {
    if (!this.#openChunk()) this.damaged('it ends too early')
    return this.take(bytes)
  }

  /** The next byte, or `END` at the end of the message. */
  peek(): number {
    while (this.at === this.to) if (!this.#openChunk()) return format.END
    return this.bytes[this.at]!
  }

  byte(): number {
    // `take` may change `bytes`, so it comes first.
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

  bigint(isNegative: boolean, digits: unknown): bigint {
    if (typeof digits !== 'string' || !HEXADECIMAL.test(digits)) this.damaged('a bigint without digits')
    const size = BigInt(`0x${digits}`)
    return isNegative ? -size : size
  }

  /** Reads a count of items that have at least `bytesEach` bytes each. */
  count(bytesEach: number): number {
    const count = this.uint32()
    if (count * bytesEach > this.bytesLeft) this.damaged('it counts more items than it has bytes')
    return count
  }

  /** Reads the next characters of the text. */
  text(length: number): string {
    const from = this.#textAt
    const to = from + (this.#isWide ? length * 2 : length)
    if (to > this.#windowTo) this.#openWindow(from, to)
    this.#textAt = to
    const start = this.#isWide ? (from - this.#windowFrom) >> 1 : from - this.#windowFrom
    return this.#window.substring(start, start + length)
  }

  /**
   * Creates one string for several short strings, because a substring costs almost nothing. The window is short,
   * because a substring keeps the whole string in memory.
   */
  #openWindow(from: number, to: number): void {
    if (to > this.#textTo) this.damaged('its text is too short')
    this.#windowFrom = from
    this.#windowTo = Math.min(this.#textTo, from + WINDOW_BYTES)
    this.#window = this.#isWide
      ? this.bytes.ucs2Slice(from, this.#windowTo)
      : this.bytes.latin1Slice(from, this.#windowTo)
  }

  latin1(size: number): string {
    const from = this.take(size)
    return this.bytes.latin1Slice(from, from + size)
  }

  utf16(size: number): string {
    if (size % 2 !== 0) this.damaged('it has half a character')
    const from = this.take(size)
    return this.bytes.ucs2Slice(from, from + size)
  }

  /** The content of a buffer as a view of the message. The caller must copy it. */
  raw(length: number): Uint8Array {
    this.take(-this.at & 7)
    const from = this.take(length)
    return new Uint8Array(this.bytes.buffer, from, length)
  }

  /** A buffer that was transferred beside the chunks. */
  separate(number: number): ArrayBuffer {
    return this.#message?.buffers[number] ?? this.damaged(`it has no buffer ${number}`)
  }
}
