// The first byte of every value in a message. What is met most often has its content in the tag.
//
//   message   header, value, text: all its short strings, one behind the other, each value tells only its length
//   header    mode (8 bits), bytes of text (24 bits), where the text begins, counted from the header (32 bits)
//   mode      TREE: no object stands at two places, so the reader need not number what it makes
//             GRAPH: some does; objects are numbered in the order in which they begin
//             + WIDE_TEXT: two bytes a character
//
// Zero is no tag and no mode: memory that nobody wrote is no message.

export const HEADER_BYTES = 8
export const TREE = 1
export const GRAPH = 2
export const WIDE_TEXT = 4
export const LARGEST_TEXT = 2 ** 24 - 1

export const UNDEFINED = 1
export const NULL = 2
export const TRUE = 3
export const FALSE = 4
export const INT32 = 5
export const DOUBLE = 6
/** Fits into 64 bits. */
export const BIGINT64 = 7
/** A sign and hexadecimal digits. */
export const BIGINT = 8
/** A length (8 bits): so many characters of the message's text. */
export const TEXT = 29
export const LONGEST_TEXT = 128
/** Longer strings: a count of bytes, then these. */
export const LATIN1 = 9
export const UTF16 = 10
/** The number of an object that began earlier in the message. */
export const SAME = 11
/** Learned: the number of a shape, then one value for each of its keys. */
export const SHAPED = 12
/** Not learned: keys, each with its value, up to END. */
export const KEYED = 13
export const EMPTY_OBJECT = 14
/** A count, then so many elements. */
export const ARRAY = 15
/** A length, then keys, each with their values up to END: holes, or named properties. */
export const SPARSE_ARRAY = 16
/** In place of an element. */
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
/** In place of elements: a count, then so many 32-bit integers, or doubles. */
export const INT32S = 27
export const DOUBLES = 28
/** In a long message: the number of a buffer that comes beside its chunks. */
export const HANDED = 30

/** SHORT_SHAPED + number, for the shapes learned first. */
export const SHORT_SHAPED = 0x40
export const SHORT_SHAPES = 0x20
/** SHORT_TEXT + length: so many characters of the message's text. */
export const SHORT_TEXT = 0x60
export const SHORT_LENGTHS = 0x20
/** SMALL_INT + value. */
export const SMALL_INT = 0x80
export const SMALL_INTS = 0x80

/** How deep values may nest: the same for both sides, and far from the end of any stack. */
export const DEEPEST = 200
