// A message of any length, while it is written: chunks that follow each other, large buffers beside them, and where those
// values begin that take long to read. All its memory is given away when it is done.
import { floor, Uint8ArrayIntrinsic } from './intrinsics.js'
import { CHUNK_SPAN, type LongChunk, type LongMessage } from './long-message.js'

export interface LongSizes {
  chunkBytes: number
  /** A value of so many bytes is noted as big. */
  bigBytes: number
  /** So is a string. */
  longTextBytes: number
  /** A buffer of so many bytes goes beside the chunks. */
  handedBytes: number
}

/**
 * A chunk bounds the row of numbers that is read at once. A value that is not big is read at once too, in some 0.1 ms. To
 * give a buffer away costs as much as to copy some pages.
 */
const SIZES: LongSizes = {
  chunkBytes: 2 ** 18,
  bigBytes: 2 ** 12,
  longTextBytes: 2 ** 20,
  handedBytes: 2 ** 16,
}

export class LongDraft {
  readonly sizes: LongSizes
  readonly #chunks: LongChunk[] = []
  readonly #buffers: ArrayBuffer[] = []
  readonly #big: number[] = []
  /** Of the values under way: where each began, and how much was written before. */
  readonly #begun: number[] = []
  #memory = new ArrayBuffer(0)
  /** Bytes in the chunks that are full. */
  #before = 0

  constructor(sizes: LongSizes = SIZES) {
    this.sizes = sizes
  }

  /** Memory for the next chunk, with room for so many bytes at least. */
  open(bytes: number): ArrayBuffer {
    this.#memory = new ArrayBuffer(bytes > this.sizes.chunkBytes ? bytes : this.sizes.chunkBytes)
    return this.#memory
  }

  close(used: number, text: Pick<LongChunk, 'text' | 'isWide'>): void {
    this.#chunks[this.#chunks.length] = { bytes: this.#memory, used, ...text }
    this.#before += used
  }

  /** A copy of the bytes becomes the reader's; tells its number. */
  hand(bytes: Uint8Array): number {
    const number = this.#buffers.length
    this.#buffers[number] = new Uint8ArrayIntrinsic(bytes).buffer
    return number
  }

  /** An object begins at this byte of the chunk that is open. */
  begin(at: number): void {
    const depth = this.#begun.length
    this.#begun[depth] = this.#positionOf(at)
    this.#begun[depth + 1] = this.#before + at
  }

  /** It is written. */
  end(at: number): void {
    const depth = this.#begun.length - 2
    if (this.#before + at - this.#begun[depth + 1]! >= this.sizes.bigBytes)
      this.#note(this.#whereItLies(this.#begun[depth]!))
    this.#begun.length = depth
  }

  noteLongText(at: number): void {
    this.#note(this.#positionOf(at))
  }

  finish(isGraph: boolean): LongMessage {
    // What contains others is noted after them, and read before.
    const big = new Float64Array(this.#big).sort()
    return { isGraph, chunks: this.#chunks, buffers: this.#buffers, big }
  }

  /** A value that was to begin at the end of a chunk begins in the next one. */
  #whereItLies(position: number): number {
    const number = floor(position / CHUNK_SPAN)
    return this.#chunks[number]?.used === position % CHUNK_SPAN ? (number + 1) * CHUNK_SPAN : position
  }

  #note(position: number): void {
    this.#big[this.#big.length] = position
  }

  #positionOf(at: number): number {
    return this.#chunks.length * CHUNK_SPAN + at
  }
}
