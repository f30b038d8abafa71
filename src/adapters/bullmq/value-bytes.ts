// Checks the bytes of a value before V8 reads them. V8 believes the lengths in its bytes: 4 bytes can claim an array of 6 MB, and
// 200 of such arrays in each other stop a program for seconds. Reading stops here at the first byte that V8 would not write.
// Source: `value-serializer.cc` of V8, version 15 of its format. Node.js 20 to 24 write it.
import { HEAD_BYTES, packMessage } from '../../kit.js'

/** Throws for a value that is malformed, or takes too much work to read. */
export class ValueBytesError extends Error {
  /** Reading the value would take too long. Otherwise V8 did not write the bytes. */
  readonly isTooMuch: boolean

  constructor(message: string, isTooMuch = false) {
    super(message)
    this.isTooMuch = isTooMuch
  }
}

const CHECKED_VERSION = 15
/** V8 itself reads between 1,000 and 2,000 objects in each other. */
const MAX_DEPTH = 1000
/** Work is counted in values such as a number. On a usual machine V8 reads 4 to 10 values within a microsecond. */
const LEAST_WORK_LIMIT = 200_000
/** Values with a higher `maxValueBytes` may take more work. */
const BYTES_PER_WORK = 5

const OBJECT_WORK = 4
const COLLECTION_WORK = 6
const BUFFER_WORK = 6
const SPARSE_WORK = 20
/** The operating system reserves memory for each. */
const RESIZABLE_WORK = 1000
/** V8 parses the source, and `\p{…}` takes long. */
const PATTERN_CHARACTER_WORK = 50
const MAX_RESERVED_BYTES = 2 ** 30

const code = (tag: string) => tag.charCodeAt(0)
const OBJECT = code('o')
const OBJECT_END = code('{')
const DENSE = code('A')
const DENSE_END = code('$')
const SPARSE = code('a')
const SPARSE_END = code('@')
const MAP = code(';')
const MAP_END = code(':')
const SET = code("'")
const SET_END = code(',')
const ERROR = code('r')
const ERROR_END = code('.')
const LATIN1 = code('"')
const UTF8 = code('S')
const UTF16 = code('c')
const VIEW = code('V')
const PADDING = 0
/** Stands before the fields of `process.env`. */
const HOST_OBJECT = code('\\')
const NOT_ELEMENTS = [PADDING, HOST_OBJECT, VIEW]

/**
 * Throws `ValueBytesError`.
 *
 * @param maxBytes the largest value that the program accepts
 */
export function checkValueBytes(bytes: Uint8Array, maxBytes: number): void {
  if (!isFormatKnown(bytes)) return
  new BytesReader(bytes, Math.max(LEAST_WORK_LIMIT, maxBytes / BYTES_PER_WORK)).readAll()
}

let ownHead: Uint8Array | undefined

/** A later version of V8 may write another format, and Bun does. Such bytes are not checked where this program writes them too. */
function isFormatKnown([mark, version]: Uint8Array): boolean {
  if (mark === 0xff && version === CHECKED_VERSION) return true
  ownHead ??= packMessage({}).subarray(HEAD_BYTES)
  if (mark === ownHead[0] && version === ownHead[1]) return false
  throw new ValueBytesError('The value does not begin with the version of its format.')
}

/** An object whose members follow. */
interface Opened {
  readonly end: number
  /** Elements of a dense array, or the cause of an error, that must come first. */
  elementsLeft: number
}

class BytesReader {
  readonly #bytes: Uint8Array
  readonly #opened: Opened[] = []
  #at = 2
  #workLeft: number
  #reservedBytes = 0

  constructor(bytes: Uint8Array, workLimit: number) {
    this.#bytes = bytes
    this.#workLeft = workLimit
  }

  readAll(): void {
    if (this.#bytes[this.#at] !== OBJECT) throw new ValueBytesError('The value is not in an object.')
    do this.#readNext()
    while (this.#opened.length > 0)
    if (this.#at !== this.#bytes.length) throw new ValueBytesError('The value has bytes after its end.')
  }

  /** Reads a value, the beginning of an object, or the end of one. */
  #readNext(): void {
    const tag = this.#byte()
    const opened = this.#opened.at(-1)
    // The view of a buffer follows the buffer, and is part of the same element.
    if (opened !== undefined && !NOT_ELEMENTS.includes(tag)) {
      if (opened.elementsLeft > 0) opened.elementsLeft--
      else if (tag === opened.end) return this.#close(tag)
      else if (opened.end === ERROR_END) return this.#readErrorField(opened, tag)
    }
    this.#work(1)
    this.#readValue(tag)
  }

  #readValue(tag: number): void {
    switch (tag) {
      case PADDING:
      case HOST_OBJECT:
      case code('_'):
      case code('0'):
      case code('T'):
      case code('F'):
      case code('-'): // a hole
        return
      case code('I'):
      case code('U'):
      case code('^'): // an object that was read before
        this.#integer()
        return
      case code('N'):
        return this.#skip(8)
      case code('Z'):
        return this.#skipBigInt()
      case LATIN1:
      case UTF8:
      case UTF16:
        return this.#skip(this.#integer())
      case OBJECT:
        return this.#open(OBJECT_END, OBJECT_WORK)
      case DENSE:
        return this.#open(DENSE_END, OBJECT_WORK, this.#integer())
      case SPARSE:
        this.#integer()
        return this.#open(SPARSE_END, SPARSE_WORK)
      case MAP:
        return this.#open(MAP_END, COLLECTION_WORK)
      case SET:
        return this.#open(SET_END, COLLECTION_WORK)
      case ERROR:
        return this.#open(ERROR_END, OBJECT_WORK)
      case code('y'): // new Boolean(true)
      case code('x'):
        return this.#work(OBJECT_WORK)
      case code('D'):
      case code('n'): // new Number()
        this.#work(OBJECT_WORK)
        return this.#skip(8)
      case code('z'): // Object(1n)
        this.#work(OBJECT_WORK)
        return this.#skipBigInt()
      case code('s'): // new String()
        this.#work(OBJECT_WORK)
        this.#readString()
        return
      case code('R'):
        this.#work(OBJECT_WORK)
        this.#work(this.#readString() * PATTERN_CHARACTER_WORK)
        this.#integer()
        return
      case code('B'):
        this.#work(BUFFER_WORK)
        return this.#skip(this.#integer())
      case code('~'):
        return this.#readResizable()
      case VIEW:
        this.#work(OBJECT_WORK)
        for (let field = 0; field < 4; field++) this.#integer()
        return
      default:
        throw new ValueBytesError(`The value has an unknown part of type ${tag}.`)
    }
  }

  #open(end: number, work: number, elements = 0): void {
    this.#work(work)
    if (this.#opened.length >= MAX_DEPTH) {
      throw new ValueBytesError(`The value has more than ${MAX_DEPTH} objects in each other.`, true)
    }
    // Each element takes a byte. V8 makes the array before it reads them.
    if (elements > this.#bytes.length - this.#at) throw cutOff()
    this.#opened.push({ end, elementsLeft: elements })
  }

  #close(end: number): void {
    this.#opened.pop()
    // The numbers of members, and for arrays the length.
    if (end !== ERROR_END) this.#integer()
    if (end === DENSE_END || end === SPARSE_END) this.#integer()
  }

  /** A letter says what follows: the message, the stack, the cause, or nothing for the class. */
  #readErrorField(error: Opened, field: number): void {
    this.#work(1)
    if (field === code('m') || field === code('s')) this.#readString()
    else if (field === code('c')) error.elementsLeft = 1
    else if (!'ERFSTU'.includes(String.fromCharCode(field))) {
      throw new ValueBytesError(`The value has an error with an unknown part of type ${field}.`)
    }
  }

  #readResizable(): void {
    this.#work(RESIZABLE_WORK)
    const length = this.#integer()
    this.#reservedBytes += this.#integer()
    if (this.#reservedBytes > MAX_RESERVED_BYTES) {
      throw new ValueBytesError(
        `The value has resizable buffers of more than ${MAX_RESERVED_BYTES} bytes.`,
        true,
      )
    }
    this.#skip(length)
  }

  /** Returns its length in bytes. */
  #readString(): number {
    const tag = this.#byte()
    if (tag !== LATIN1 && tag !== UTF8 && tag !== UTF16)
      throw new ValueBytesError('The value lacks a string.')
    const length = this.#integer()
    this.#skip(length)
    return length
  }

  /** The first bit is the sign. */
  #skipBigInt(): void {
    this.#skip(Math.floor(this.#integer() / 2))
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw cutOff()
    return byte
  }

  /** Seven bits in each byte, the lowest first. The highest bit says that another byte follows. */
  #integer(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new ValueBytesError('The value has a number of more than 32 bits.')
  }

  #skip(bytes: number): void {
    this.#at += bytes
    if (this.#at > this.#bytes.length) throw cutOff()
  }

  #work(amount: number): void {
    this.#workLeft -= amount
    if (this.#workLeft < 0) throw new ValueBytesError('The value has too many objects.', true)
  }
}

function cutOff(): ValueBytesError {
  return new ValueBytesError('The value ends too early.')
}
