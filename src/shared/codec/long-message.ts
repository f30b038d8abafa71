// A value too large to be written, or read, in one go. All its memory goes to the reader.

export interface LongMessage {
  readonly isGraph: boolean
  /** They follow each other; what is written in one piece lies in one of them. The reader lets go those that it has read. */
  readonly chunks: LongChunk[]
  /** Those that the chunks name by number. */
  readonly buffers: readonly ArrayBuffer[]
  /**
   * Where big values begin, in order: the number of the chunk times `CHUNK_SPAN`, and the byte. A hint for the reader where
   * to stop, which changes no value.
   */
  readonly big: Float64Array<ArrayBuffer>
}

export interface LongChunk {
  readonly bytes: ArrayBuffer
  readonly used: number
  /** Its short strings, one behind the other. */
  readonly text: ArrayBuffer
  readonly isWide: boolean
}

export const CHUNK_SPAN = 2 ** 32

/** What is given away with the message. */
export function memoryOf({ chunks, buffers, big }: LongMessage): ArrayBuffer[] {
  return [...chunks.flatMap(({ bytes, text }) => [bytes, text]), ...buffers, big.buffer]
}
