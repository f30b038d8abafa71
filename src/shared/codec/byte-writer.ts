// Writes primitives, each with its tag, into a region of shared memory, and never beyond the region's end.
import {
  ArrayBufferIntrinsic,
  asIntN,
  bigIntText,
  charCodeAt,
  latin1Write,
  matches,
  substring,
  ucs2Write,
  viewBytes,
  viewNumbers,
} from './intrinsics.js'
import type { LongDraft } from './long-draft.js'
import type { LongChunk } from './long-message.js'
import * as tags from './tags.js'

/** Thrown, and caught where the message began: a value that cannot be written ends the message at any depth. */
export const NO_ROOM_LEFT = { refusal: 'no room' }
export const UNKNOWN_VALUE = { refusal: 'unknown value' }

/** Longer strings are copied by the runtime: its call costs as much as so many characters one by one. */
const LONGEST_LOOP = 48
const BEYOND_LATIN1 = /[^\0-\xff]/
const LARGEST_HEAD = 5
const LARGEST_NUMBER = 8

export class ByteWriter {
  protected bytes: Buffer
  protected at = 0
  protected to = 0
  /** The short strings so far. */
  protected text = ''
  protected following: unknown
  /** `null`, unless the message may be of any length. */
  protected long: LongDraft | null = null
  readonly #ownBytes: Buffer
  readonly #ownView: DataView<ArrayBufferLike>
  #view: DataView<ArrayBufferLike>

  constructor(memory: SharedArrayBuffer) {
    this.#ownBytes = viewBytes(memory)
    this.#ownView = viewNumbers(memory)
    this.bytes = this.#ownBytes
    this.#view = this.#ownView
  }

  /** Every write of unknown size begins with this one; what it makes room for lies in one piece. */
  need(bytes: number): void {
    if (bytes > this.to - this.at) this.#goOn(bytes)
  }

  /** For what will come to so many bytes at least, in whatever pieces. */
  expectRoom(bytes: number): void {
    if (bytes > this.to - this.at && this.long === null) throw NO_ROOM_LEFT
  }

  tag(tag: number): void {
    if (this.at >= this.to) this.#goOn(1)
    this.bytes[this.at++] = tag
  }

  /** A long message goes on in another chunk; any other ends here. */
  #goOn(bytes: number): void {
    if (this.long === null) throw NO_ROOM_LEFT
    this.#closeChunk(this.long)
    this.#openChunk(this.long, bytes)
  }

  protected beginLong(draft: LongDraft): void {
    this.long = draft
    this.#openChunk(draft, 0)
  }

  protected finishLong(draft: LongDraft): void {
    this.#closeChunk(draft)
  }

  /** Back to the memory that is this writer's own. */
  protected leaveLong(): void {
    this.long = null
    this.bytes = this.#ownBytes
    this.#view = this.#ownView
  }

  #openChunk(draft: LongDraft, bytes: number): void {
    const memory = draft.open(bytes)
    this.bytes = viewBytes(memory)
    this.#view = viewNumbers(memory)
    this.at = 0
    this.to = memory.byteLength
    this.text = ''
  }

  #closeChunk(draft: LongDraft): void {
    draft.close(this.at, bytesOfText(this.text))
  }

  /** A tag and a count, a length or a number. */
  head(tag: number, count: number): void {
    this.need(LARGEST_HEAD)
    this.bytes[this.at] = tag
    this.#view.setUint32(this.at + 1, count, true)
    this.at += LARGEST_HEAD
  }

  number(value: number): void {
    if (isInt32(value)) this.#integer(value)
    else this.double(tags.DOUBLE, value)
  }

  #integer(value: number): void {
    if (value >= 0 && value < tags.SMALL_INTS) return this.tag(tags.SMALL_INT + value)
    this.need(5)
    this.bytes[this.at] = tags.INT32
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
   * Writes the numbers of a row from `array[from]` on, whose value is `first`, without a tag for each. A row of integers
   * ends before the first that is none, any row where the room ends. Tells how many there were; what ended the row was read, and is in `following`.
   */
  protected row(array: readonly unknown[], from: number, length: number, first: number): number {
    this.need(LARGEST_HEAD + LARGEST_NUMBER)
    const head = this.at
    const areInt32 = isInt32(first)
    this.head(areInt32 ? tags.INT32S : tags.DOUBLES, 0)
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
      // A row lies in one piece.
      if (size > this.to - this.at) break
    }
    this.#view.setUint32(head + 1, index - from, true)
    this.following = value
    return index - from
  }

  bigint(value: bigint): void {
    if (asIntN(64, value) === value) {
      this.need(9)
      this.bytes[this.at] = tags.BIGINT64
      this.#view.setBigInt64(this.at + 1, value, true)
      this.at += 9
    } else {
      this.tag(tags.BIGINT)
      this.tag(value < 0n ? 1 : 0)
      const digits = bigIntText(value, 16)
      this.string(value < 0n ? substring(digits, 1, digits.length) : digits)
    }
  }

  /** Short strings of a message stand together behind its values, so that they are copied all at once. */
  string(value: string): void {
    const { length } = value
    if (length < tags.SHORT_LENGTHS) this.tag(tags.SHORT_TEXT + length)
    else if (length <= tags.LONGEST_TEXT) {
      this.need(2)
      this.bytes[this.at] = tags.TEXT
      this.bytes[this.at + 1] = length
      this.at += 2
    } else return this.#longString(value)
    this.text += value
  }

  #longString(value: string): void {
    this.expectRoom(LARGEST_HEAD + value.length)
    const isWide = matches(BEYOND_LATIN1, value) !== null
    const size = isWide ? value.length * 2 : value.length
    this.need(LARGEST_HEAD + size)
    if (this.long !== null && size >= this.long.sizes.longTextBytes) this.long.noteLongText(this.at)
    this.head(isWide ? tags.UTF16 : tags.LATIN1, size)
    this.#copy(value, isWide)
  }

  /** What was written is on its way: the text is not kept for it. */
  protected forgetText(): void {
    this.text = ''
  }

  protected begin(from: number, to: number): void {
    this.at = from
    this.to = to
    this.need(tags.HEADER_BYTES)
    this.at += tags.HEADER_BYTES
  }

  /** Writes the short strings behind the values, and the header that says where. */
  protected finish(from: number, mode: number): number {
    const { text, at } = this
    let isWide = false
    if (text.length > 0) {
      isWide = !this.#copyShort(text) && matches(BEYOND_LATIN1, text) !== null
      if (this.at === at) this.#copy(text, isWide)
    }
    const size = this.at - at
    if (size > tags.LARGEST_TEXT) throw UNKNOWN_VALUE
    this.#view.setUint32(from, (isWide ? mode | tags.WIDE_TEXT : mode) + size * 0x100, true)
    this.#view.setUint32(from + 4, at - from, true)
    return this.at
  }

  /** Character by character, which for few of them costs less than a call of the runtime. False when it is not done. */
  #copyShort(text: string): boolean {
    const { length } = text
    if (length > LONGEST_LOOP) return false
    this.need(length)
    const { bytes, at } = this
    let union = 0
    for (let index = 0; index < length; index++) {
      const unit = charCodeAt(text, index)
      union |= unit
      bytes[at + index] = unit
    }
    if (union > 0xff) return false
    this.at = at + length
    return true
  }

  #copy(text: string, isWide: boolean): void {
    const size = isWide ? text.length * 2 : text.length
    this.need(size)
    if (isWide) ucs2Write(this.bytes, text, this.at, size)
    else latin1Write(this.bytes, text, this.at, size)
    this.at += size
  }
}

/** The short strings of a chunk, in memory of their own. */
function bytesOfText(text: string): Pick<LongChunk, 'text' | 'isWide'> {
  const isWide = matches(BEYOND_LATIN1, text) !== null
  const size = isWide ? text.length * 2 : text.length
  const memory = new ArrayBufferIntrinsic(size)
  const write = isWide ? ucs2Write : latin1Write
  write(viewBytes(memory), text, 0, size)
  return { text: memory, isWide }
}

/** Minus zero is none. */
function isInt32(value: number): boolean {
  return value === (value | 0) && (value !== 0 || 1 / value > 0)
}
