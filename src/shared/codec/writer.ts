// Writes primitives with their tags into a region of shared memory, or into the chunks of a large message. A message that has no room in
// the region continues in chunks, so that the encoder reads each value once.
import * as format from './format.js'

/** Thrown at any depth of a value. `encode()` catches it. */
export const NO_ROOM_LEFT = { refusal: 'no room' }
export const UNKNOWN_VALUE = { refusal: 'unknown value' }

/** Up to this length, writing characters one by one is faster than a native copy. */
const MAX_LOOP_LENGTH = 48
const HEAD_BYTES = 5
const NUMBER_BYTES = 8

export interface LargeSizes {
  chunkBytes: number
  /** The decoder may pause inside a value from this size on. */
  largeBytes: number
  /** A buffer from this size on travels beside the chunks. */
  separateBytes: number
  /** The encoder declines a larger buffer. Default: no limit. */
  largestBufferBytes?: number
}

/**
 * The decoder reads a row of numbers without a pause, and a row ends with its chunk. The chunk size also keeps the
 * short strings below `MAX_TEXT_BYTES`. The decoder reads 4 KiB in about 0.1 ms. Transferring a buffer costs as much as
 * copying some pages.
 */
export const LARGE_SIZES: LargeSizes = {
  chunkBytes: 2 ** 16,
  largeBytes: 2 ** 12,
  separateBytes: 2 ** 16,
}

/** An unfinished large message. */
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
  /** The short strings of the message so far. */
  protected text = ''
  /** The value after the last row of numbers. */
  protected following: unknown
  /** `null` for a message in the lane. */
  protected draft: LargeDraft | null = null
  /** A message that outgrows the lane becomes a large one with these sizes. `null`: it ends with `NO_ROOM_LEFT`. */
  protected spillSizes: LargeSizes | null = null
  /** The start of the message, or of the chunk. */
  #from = 0
  /** The place of `position` 0. */
  #origin = 0
  #view: DataView
  readonly #laneBytes: format.StringBuffer
  readonly #laneView: DataView

  constructor(memory: SharedArrayBuffer) {
    this.#laneBytes = format.bufferOver(memory)
    this.#laneView = new DataView(memory)
    this.bytes = this.#laneBytes
    this.#view = this.#laneView
  }

  /** Writes a value of any kind. */
  abstract write(value: unknown): void

  protected beginMessage(from: number, to: number): void {
    this.at = from
    this.to = to
    this.text = ''
    this.need(format.HEADER_BYTES)
    this.at += format.HEADER_BYTES
    this.#from = from
    this.#origin = this.at
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
    this.#openChunk(draft, draft.sizes.chunkBytes)
  }

  protected finishLarge(draft: LargeDraft, isGraph: boolean): format.LargeMessage {
    this.#closeChunk(draft)
    const { chunks, buffers } = draft
    // Sorted, because a value is marked at its end, after the values inside it.
    return { isGraph, chunks, buffers, large: new Float64Array(draft.large).sort() }
  }

  /** Returns to the lane's memory for the next message, and drops references to the values of this message. */
  protected reset(): void {
    this.text = ''
    this.following = undefined
    this.spillSizes = null
    if (this.draft === null) return
    this.draft = null
    this.bytes = this.#laneBytes
    this.#view = this.#laneView
  }

  #openChunk(draft: LargeDraft, bytes: number): void {
    this.#use(new ArrayBuffer(format.HEADER_BYTES + bytes))
    this.beginMessage(0, this.bytes.length)
    this.#origin -= draft.closedBytes
  }

  /** Copies the chunk to a buffer of the exact size of its values and text, unless the chunk is already full. */
  #closeChunk(draft: LargeDraft): void {
    const { text } = this
    if (text !== '' || this.at < this.bytes.length || this.bytes === this.#laneBytes) {
      const values = this.bytes.subarray(this.#from, this.at)
      const textBytes = format.isWideText(text) ? text.length * 2 : text.length
      this.#use(new ArrayBuffer(values.length + textBytes))
      this.bytes.set(values)
      this.at = values.length
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

  /** Opens a new chunk. The part of a message that is in the lane becomes the first chunk. */
  #makeRoom(bytes: number): void {
    const draft = this.#startedDraft()
    this.#closeChunk(draft)
    this.#openChunk(draft, Math.max(bytes, draft.sizes.chunkBytes))
  }

  #startedDraft(): LargeDraft {
    if (this.draft !== null) return this.draft
    if (this.spillSizes === null) throw NO_ROOM_LEFT
    this.draft = new LargeDraft(this.spillSizes)
    return this.draft
  }

  /** Call it before each write. The bytes will be in one chunk. */
  need(bytes: number): void {
    if (bytes > this.to - this.at) this.#makeRoom(bytes)
  }

  /** Call it before `finish()`: the short strings may have no room after the values. */
  protected expectTextRoom(): void {
    const { length } = this.text
    const room = this.to - this.at
    if (length * 2 > room && (length > room || format.isWideText(this.text))) this.#makeRoom(0)
  }

  /** Call it before a value that needs at least this many bytes: it leaves the lane early. The bytes may be in several chunks. */
  expectRoom(bytes: number): void {
    if (bytes > this.to - this.at && this.draft === null) this.#makeRoom(0)
  }

  /** The number of value bytes so far. */
  protected get position(): number {
    return this.at - this.#origin
  }

  /** Call it at the end of a value that started at `position`. */
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
   * Writes the numbers from `array[from]` on without a tag for each. `first` is the value of `array[from]`. A row of
   * integers ends at the first other number. Any row ends at the end of the memory. Returns the count. Stores the value
   * after the row in `following`, so that the element is read only once.
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

  /** Collects short strings in `text`, and copies them together at the end of the message. */
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
    const { position } = this
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

  /** Copies a short text one character at a time, which is faster than a native call. False for long or wide text. */
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

  /** Writes the content of a buffer, aligned to 8 bytes, because aligned bytes are copied many times faster. */
  raw(content: Uint8Array): void {
    const { length } = content
    this.need(HEAD_BYTES + 7 + length)
    this.head(format.BUFFER, length)
    const from = (this.at + 7) & ~7
    this.at = from + length
    // `fill` copies a large buffer into shared memory up to three times as fast as `set`.
    if (length < format.LARGE_COPY_BYTES) this.bytes.set(content, from)
    else this.bytes.fill(content, from, this.at)
  }

  /**
   * Adds a copy of a large buffer beside the chunks. Returns false when the content belongs into the message itself.
   */
  separate(content: Uint8Array): boolean {
    this.expectRoom(content.length)
    const { draft } = this
    if (draft === null || content.length < draft.sizes.separateBytes) return false
    const { largestBufferBytes = Number.POSITIVE_INFINITY } = draft.sizes
    if (content.length > largestBufferBytes) throw UNKNOWN_VALUE
    this.head(format.SEPARATE_BUFFER, draft.buffers.length)
    draft.buffers.push(content.slice().buffer)
    return true
  }
}

/** False for -0, which would lose its sign. */
function isInt32(value: number): boolean {
  return value === (value | 0) && (value !== 0 || 1 / value > 0)
}
