// Defines the bytes of a message, which the encoder writes and the decoder reads.
//
//   message   header, value, text
//   header    mode (8 bits), bytes of text (24 bits), offset of the text from the header (32 bits)
//   mode      TREE:  no object occurs twice, so the decoder need not number the objects
//             GRAPH: an object occurs twice; objects are numbered in the order in which they start
//             + WIDE_TEXT: two bytes for each character of the text
//   value     a tag (8 bits), then its content; the most frequent values fit into the tag
//   text      the short strings of the message, one after another; a value has only the length of its string
//
// Zero is neither a tag nor a mode, so unwritten memory is not a message.

export const HEADER_BYTES = 8
export const TREE = 1
export const GRAPH = 2
export const WIDE_TEXT = 4
export const MAX_TEXT_BYTES = 2 ** 24 - 1

export const UNDEFINED = 1
export const NULL = 2
export const TRUE = 3
export const FALSE = 4
export const INT32 = 5
export const DOUBLE = 6
/** A bigint that fits into 64 bits. */
export const BIGINT64 = 7
/** Any other bigint: a sign and hexadecimal digits. */
export const BIGINT = 8
/** A count of bytes, then the string. */
export const LATIN1 = 9
export const UTF16 = 10
/** The number of an object that started earlier in the message. */
export const REFERENCE = 11
/** The number of a shape in the shape table, then one value for each key. */
export const SHAPED_OBJECT = 12
/** Keys, each with its value, up to END. */
export const KEYED_OBJECT = 13
export const EMPTY_OBJECT = 14
/** A count, then that many elements. */
export const ARRAY = 15
/** A length, then keys, each with its value, up to END. For arrays with holes or named properties. */
export const SPARSE_ARRAY = 16
/** Takes the place of a missing element. */
export const HOLE = 17
export const END = 18
export const DATE = 19
export const MAP = 20
export const SET = 21
export const REGEXP = 22
export const BUFFER = 23
export const TYPED_ARRAY = 24
export const DATA_VIEW = 25
export const BOXED = 26
/** Take the place of elements: a count, then that many 32-bit integers or doubles. */
export const INT32_ROW = 27
export const DOUBLE_ROW = 28
/** A length (8 bits) of a string in the text. */
export const TEXT = 29
export const MAX_TEXT_LENGTH = 128
/** The number of a buffer that travels beside the chunks of a large message. */
export const SEPARATE_BUFFER = 30

/** The number of a resource. */
export const HANDLE = 31

/** SHORT_SHAPE + number, for the first shapes of the shape table. */
export const SHORT_SHAPE = 0x40
export const SHORT_SHAPES = 0x20
/** SHORT_TEXT + length of a string in the text. */
export const SHORT_TEXT = 0x60
export const SHORT_TEXTS = 0x20
/** SMALL_INT + value. */
export const SMALL_INT = 0x80
export const SMALL_INTS = 0x80

/** The deepest nesting. The encoder declines deeper values, and the decoder reports them as damage. */
export const MAX_DEPTH = 200

/** V8 stores a longer array as a hash table of its elements. */
export const MAX_DENSE_LENGTH = 2 ** 25

/** From this size on, copying a buffer has special handling (benchmark row P5, 64 KB bytes). */
export const LARGE_COPY_BYTES = 16_384

/** The message of a value that is too large for the lane. The sender transfers its memory to the reader. */
export interface LargeMessage {
  readonly isGraph: boolean
  /**
   * Each chunk has the form of a message and continues the value of the chunk before. The decoder removes the chunks.
   */
  readonly chunks: ArrayBuffer[]
  /** Large buffers of the value. The chunks name them by number. */
  readonly buffers: ArrayBuffer[]
  /** The positions of large values, ascending. The decoder can pause inside these. A wrong entry changes no value. */
  readonly large: Float64Array & { readonly buffer: ArrayBuffer }
}

/** The transfer list for a large message. */
export function transferList({ chunks, buffers, large }: LargeMessage): ArrayBuffer[] {
  return [...chunks, ...buffers, large.buffer]
}

/** Not public, because only a bug of lido or a defect of the machine can damage bytes. */
export class CorruptMessageError extends Error {
  override readonly name = 'CorruptMessageError'

  constructor(problem: string) {
    super(`lido: a message in shared memory is damaged: ${problem}. Please report this.`)
  }
}

/** Internal string methods of Buffer. `toString` and `write` are slower: they look up the encoding in each call. */
export interface StringBuffer extends Buffer {
  latin1Slice(from: number, to: number): string
  ucs2Slice(from: number, to: number): string
  latin1Write(text: string, from: number, bytes: number): number
  ucs2Write(text: string, from: number, bytes: number): number
}

export function bufferOver(memory: ArrayBufferLike): StringBuffer {
  return Buffer.from(memory as ArrayBuffer) as unknown as StringBuffer
}

const BEYOND_LATIN1 = /[^\0-\xff]/

/** True when a character needs two bytes. */
export function isWideText(text: string): boolean {
  return BEYOND_LATIN1.test(text)
}
