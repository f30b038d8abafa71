// Writes primitives, each with its tag: into a region of shared memory, or into the chunks of a large message.
import * as format from './format.js'

/** Thrown at any depth of a value. `encode()` catches it. */
export const NO_ROOM_LEFT = { refusal: 'no room' }
export const UNKNOWN_VALUE = { refusal: 'unknown value' }

/** A native copy costs as much as writing so many characters one by one. */
const MAX_LOOP_LENGTH = 48
const HEAD_BYTES = 5
const NUMBER_BYTES = 8

export interface LargeSizes {
  chunkBytes: number
  /** The decoder may pause inside a value of this size. */
  largeBytes: number
  /** A buffer of this size travels beside the chunks. */
  separateBytes: number
}

/**
 * A chunk bounds how many numbers the decoder reads without a pause, and its short strings stay below `MAX_TEXT_BYTES`. The
 * decoder reads 4 KiB in about 0.1 ms. To transfer a buffer costs as much as to copy some pages.
 */
const LARGE_SIZES: LargeSizes = { chunkBytes: 2 ** 16, largeBytes: 2 ** 12, separateBytes: 2 ** 16 }

/** A large message while it is written. */
export class LargeDraft {
  readonly sizes: LargeSizes
  readonly chunks: ArrayBuffer[] = []
  readonly buffers: ArrayBuffer[] = []
  readonly large: number[] = []
  /** Bytes of values in `chunks`. */
  closedBytes = 0

  constructor(sizes: LargeSizes = LARGE_SIZES) {
    this.sizes = sizes
  }
}

export abstract class Writer {
  protected bytes: format.StringBuffer
  protected at = 0
  protected to = 0
  /** The short strings so far. */
  protected text = ''
  /** The value that ended the last row of numbers. */
  protected following: unknown
  /** `null` while a message for the lane is written. */
  protected draft: LargeDraft | null = null
  #view: DataView
  readonly #laneBytes: format.StringBuffer
  readonly #laneView: DataView

  constructor(memory: SharedArrayBuffer) {
    this.#laneBytes = format.bufferOver(memory)
    this.#laneView = new DataView(memory)
    this.bytes = this.#laneBytes
    this.#view = this.#laneView
  }

  /** Writes a value of any kind. The encoder does. */
  abstract write(value: unknown): void

  protected beginMessage(from: number, to: number): void {
    this.at = from
    this.to = to
    this.text = ''
    this.need(format.HEADER_BYTES)
    this.at += format.HEADER_BYTES
  }

  /** Writes the short strings after the values, and the header. Returns the end of the message. */
  protected finish(from: number, mode: number): number {
    const { text, at } = this
    let isWide = false
    if (text.length > 0 && !this.#copyShort(text)) {
      isWide = format.isWideText(text)
      this.#copy(text, isWide)
    }
    const size = this.at - at
    if (size > format.MAX_TEXT_BYTES) throw UNKNOWN_VALUE
    this.#view.setUint32(from, (isWide ? mode | format.WIDE_TEXT : mode) + size * 0x100, true)
    this.#view.setUint32(from + 4, at - from, true)
    return this.at
  }

  protected beginLarge(draft: LargeDraft): void {
    this.draft = draft
    this.#openChunk(draft.sizes.chunkBytes)
  }

  protected finishLarge(draft: LargeDraft, isGraph: boolean): format.LargeMessage {
    this.#closeChunk(draft)
    const { chunks, buffers } = draft
    // A value is noted at its end, after the values inside it.
    return { isGraph, chunks, buffers, large: new Float64Array(draft.large).sort() }
  }

  /** The next message is written into the lane again, and this one keeps nothing alive. */
  protected reset(): void {
    this.text = ''
    this.following = undefined
    if (this.draft === null) return
    this.draft = null
    this.bytes = this.#laneBytes
    this.#view = this.#laneView
  }

  #openChunk(bytes: number): void {
    this.#use(new ArrayBuffer(format.HEADER_BYTES + bytes))
    this.beginMessage(0, this.bytes.length)
  }

  /** A chunk is exactly as large as its values and its text, so it is copied, unless a long string fills it. */
  #closeChunk(draft: LargeDraft): void {
    const { text } = this
    if (text !== '' || this.at < this.bytes.length) {
      const values = this.bytes.subarray(0, this.at)
      const textBytes = format.isWideText(text) ? text.length * 2 : text.length
      this.#use(new ArrayBuffer(values.length + textBytes))
      this.bytes.set(values)
      this.to = this.bytes.length
    }
    draft.closedBytes += this.at - format.HEADER_BYTES
    this.finish(0, format.TREE)
    draft.chunks.push(this.bytes.buffer as ArrayBuffer)
  }

  #use(memory: ArrayBuffer): void {
    this.bytes = format.bufferOver(memory)
    this.#view = new DataView(memory)
  }

  /** A large message continues in a new chunk. Any other message ends here. */
  #makeRoom(bytes: number): void {
    const { draft } = this
    if (draft === null) throw NO_ROOM_LEFT
    this.#closeChunk(draft)
    this.#openChunk(Math.max(bytes, draft.sizes.chunkBytes))
  }

  /** Called before each write of unknown size. The bytes are written in one piece. */
  need(bytes: number): void {
    if (bytes > this.to - this.at) this.#makeRoom(bytes)
  }

  /** Refuses early a value that takes at least so many bytes, in any number of pieces. */
  expectRoom(bytes: number): void {
    if (bytes > this.to - this.at && this.draft === null) throw NO_ROOM_LEFT
  }

  /** How many bytes of values a large message has so far. */
  protected get position(): number {
    return this.draft!.closedBytes + this.at - format.HEADER_BYTES
  }

  /** A value that began at `position` ends here. */
  protected noteLarge(draft: LargeDraft, position: number): void {
    if (this.position - position >= draft.sizes.largeBytes) draft.large.push(position)
  }

  tag(tag: number): void {
    if (this.at >= this.to) this.#makeRoom(1)
    this.bytes[this.at++] = tag
  }

  /** A tag, then a count, a length or a number. */
  head(tag: number, count: number): void {
    this.need(HEAD_BYTES)
    this.bytes[this.at] = tag
    this.#view.setUint32(this.at + 1, count, true)
    this.at += HEAD_BYTES
  }

  number(value: number): void {
    if (isInt32(value)) this.#integer(value)
    else this.double(format.DOUBLE, value)
  }

  #integer(value: number): void {
    if (value >= 0 && value < format.SMALL_INTS) return this.tag(format.SMALL_INT + value)
    this.need(5)
    this.bytes[this.at] = format.INT32
    this.#view.setInt32(this.at + 1, value, true)
    this.at += 5
  }

  double(tag: number, value: number): void {
    this.need(9)
    this.bytes[this.at] = tag
    this.#view.setFloat64(this.at + 1, value, true)
    this.at += 9
  }

  /**
   * Writes numbers from `array[from]` on, whose value is `first`, without a tag for each. Integers end at the first number that
   * is not one; any row ends where the room ends. Returns the count. The value that ended the row is in `following`, so that it
   * is read only once.
   */
  protected row(array: readonly unknown[], from: number, length: number, first: number): number {
    this.need(HEAD_BYTES + NUMBER_BYTES)
    const head = this.at
    const areInt32 = isInt32(first)
    this.head(areInt32 ? format.INT32_ROW : format.DOUBLE_ROW, 0)
    const size = areInt32 ? 4 : 8
    let value: unknown = first
    let index = from
    for (;;) {
      if (areInt32) this.#view.setInt32(this.at, value as number, true)
      else this.#view.setFloat64(this.at, value as number, true)
      this.at += size
      if (++index === length) break
      value = array[index]
      if (typeof value !== 'number' || (areInt32 && !isInt32(value))) break
      if (size > this.to - this.at) break
    }
    this.#view.setUint32(head + 1, index - from, true)
    this.following = value
    return index - from
  }

  bigint(value: bigint): void {
    if (BigInt.asIntN(64, value) === value) {
      this.need(9)
      this.bytes[this.at] = format.BIGINT64
      this.#view.setBigInt64(this.at + 1, value, true)
      this.at += 9
    } else {
      this.tag(format.BIGINT)
      this.tag(value < 0n ? 1 : 0)
      this.string((value < 0n ? -value : value).toString(16))
    }
  }

  /** Short strings wait in `text`, and are copied together when the message ends. */
  string(value: string): void {
    const { length } = value
    if (length < format.SHORT_TEXTS) this.tag(format.SHORT_TEXT + length)
    else if (length <= format.MAX_TEXT_LENGTH) {
      this.need(2)
      this.bytes[this.at] = format.TEXT
      this.bytes[this.at + 1] = length
      this.at += 2
    } else return this.#longString(value)
    this.text += value
  }

  #longString(value: string): void {
    this.expectRoom(HEAD_BYTES + value.length)
    const isWide = format.isWideText(value)
    const size = isWide ? value.length * 2 : value.length
    this.need(HEAD_BYTES + size)
    const position = this.draft === null ? 0 : this.position
    this.head(isWide ? format.UTF16 : format.LATIN1, size)
    this.#copy(value, isWide)
    if (this.draft !== null) this.noteLarge(this.draft, position)
  }

  #copy(text: string, isWide: boolean): void {
    const size = isWide ? text.length * 2 : text.length
    this.need(size)
    if (isWide) this.bytes.ucs2Write(text, this.at, size)
    else this.bytes.latin1Write(text, this.at, size)
    this.at += size
  }

  /** Copies a short text character by character, which is faster than a native call. Returns false when it is long or wide. */
  #copyShort(text: string): boolean {
    const { length } = text
    if (length > MAX_LOOP_LENGTH) return false
    this.need(length)
    const { bytes, at } = this
    let union = 0
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index)
      union |= unit
      bytes[at + index] = unit
    }
    if (union > 0xff) return false
    this.at = at + length
    return true
  }

  /** Writes the content of a buffer, aligned to 8 bytes, from where it can be copied many times faster. */
  raw(content: Uint8Array): void {
    const { length } = content
    this.need(HEAD_BYTES + 7 + length)
    this.head(format.BUFFER, length)
    const from = (this.at + 7) & ~7
    this.at = from + length
    // For large ones `fill` copies into shared memory up to three times as fast as `set`.
    if (length < format.LARGE_COPY_BYTES) this.bytes.set(content, from)
    else this.bytes.fill(content, from, this.at)
  }

  /** Puts a copy of a large buffer beside the chunks of a large message. Returns false when it belongs into the message. */
  separate(content: Uint8Array): boolean {
    const { draft } = this
    if (draft === null || content.length < draft.sizes.separateBytes) return false
    this.head(format.SEPARATE_BUFFER, draft.buffers.length)
    draft.buffers.push(content.slice().buffer)
    return true
  }
}

/** Minus zero is not an integer. */
function isInt32(value: number): boolean {
  return value === (value | 0) && (value !== 0 || 1 / value > 0)
}
