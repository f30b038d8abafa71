// Shapes: lists of keys that objects have in common. An object of a known shape is written as the number of the shape and its
// values. The encoder appends shapes to a table in shared memory, and decoders read them from there.
import { bufferOver, CorruptMessageError, isWideText, type StringBuffer } from './format.js'
import { generateReader, generateWriter, type ReadObject, type WriteObject } from './generated-code.js'

export const MAX_KEYS = 128
export const MAX_SHAPES = 512
export const MAX_KEY_LENGTH = 100
/** Lists of keys that were met once. */
const MAX_CANDIDATES = 256
/** Code is generated for a shape that is used so often. */
const USES_BEFORE_CODE = 8

/**
 * The table. Entries never change, and an entry is complete before a message that names it is published.
 *
 *   entry   count of keys (16 bits), then for each key: its length (15 bits), whether it has two bytes a character (1 bit), its bytes
 *
 * Zero keys is not an entry: the table ends there for now.
 */
export class ShapeTable {
  readonly #bytes: StringBuffer
  readonly #to: number
  #at: number

  constructor(memory: SharedArrayBuffer, from: number, to: number) {
    this.#bytes = bufferOver(memory)
    this.#at = from
    this.#to = to
  }

  /** For the encoder. Returns false when there is no room. */
  append(keys: readonly string[]): boolean {
    let size = 2
    for (const key of keys) size += 2 + 2 * key.length
    if (size > this.#to - this.#at) return false
    let at = this.#at + 2
    for (const key of keys) at = this.#writeKey(key, at)
    this.#bytes.writeUInt16LE(keys.length, this.#at)
    this.#at = at
    return true
  }

  #writeKey(key: string, at: number): number {
    const isWide = isWideText(key)
    const size = isWide ? key.length * 2 : key.length
    this.#bytes.writeUInt16LE(key.length * 2 + (isWide ? 1 : 0), at)
    if (isWide) this.#bytes.ucs2Write(key, at + 2, size)
    else this.#bytes.latin1Write(key, at + 2, size)
    return at + 2 + size
  }

  /** For a decoder: the keys of the next entry. */
  next(): string[] {
    const keys: string[] = []
    let at = this.#at
    const count = this.#readWord(at)
    at += 2
    if (count === 0 || count > MAX_KEYS) throw new CorruptMessageError('it names a shape that nobody wrote')
    while (keys.length < count) {
      const head = this.#readWord(at)
      const isWide = (head & 1) === 1
      const length = head >> 1
      const from = at + 2
      at = from + (isWide ? length * 2 : length)
      if (length > MAX_KEY_LENGTH || at > this.#to) throw new CorruptMessageError('a key is too long')
      const key = isWide ? this.#bytes.ucs2Slice(from, at) : this.#bytes.latin1Slice(from, at)
      // In generated code it would set the prototype.
      if (key === '__proto__') throw new CorruptMessageError('a key that is never written')
      keys.push(key)
    }
    this.#at = at
    return keys
  }

  #readWord(at: number): number {
    if (at + 2 > this.#to) throw new CorruptMessageError('the shape table ends too early')
    return this.#bytes.readUInt16LE(at)
  }
}

/** A shape that the encoder knows. */
export class WriterShape {
  readonly number: number
  readonly keys: readonly string[]
  /** The shape that followed this one the last time. Most often it follows again. */
  next: WriterShape | undefined
  write: WriteObject | undefined
  #uses = 0

  constructor(number: number, keys: readonly string[]) {
    this.number = number
    this.keys = keys
  }

  countUse(): void {
    if (++this.#uses === USES_BEFORE_CODE) this.write = generateWriter(this.number, this.keys)
  }
}

/**
 * The encoder's shapes. A shape is appended to the table when its keys are met again soon, so that objects with arbitrary keys
 * do not fill the table. All memory is bounded.
 */
export class ShapeWriter {
  readonly #table: ShapeTable
  readonly #shapes = new Map<string, WriterShape>()
  readonly #candidates = new Set<string>()

  /** Nobody else appends to the table. */
  constructor(table: ShapeTable) {
    this.#table = table
  }

  /** The shape with exactly these keys in this order. */
  find(keys: readonly string[]): WriterShape | undefined {
    if (keys.length > MAX_KEYS) return undefined
    const name = keys.join('\0')
    const shape = this.#shapes.get(name)
    if (shape !== undefined) return hasKeys(shape, keys) ? shape : undefined
    if (this.#shapes.size === MAX_SHAPES || !areAllowed(keys)) return undefined
    if (this.#candidates.delete(name)) return this.#add(name, keys)
    if (this.#candidates.size === MAX_CANDIDATES) this.#candidates.clear()
    this.#candidates.add(name)
    return undefined
  }

  #add(name: string, keys: readonly string[]): WriterShape | undefined {
    if (!this.#table.append(keys)) return undefined
    const shape = new WriterShape(this.#shapes.size, keys)
    this.#shapes.set(name, shape)
    return shape
  }
}

/** Two lists of keys with a zero character in a key can have one name. */
function hasKeys(shape: WriterShape, keys: readonly string[]): boolean {
  return shape.keys.length === keys.length && shape.keys.every((key, index) => key === keys[index])
}

/** Not keys that every object inherits, and not indices, which an object moves to its front. */
function areAllowed(keys: readonly string[]): boolean {
  return (
    keys.length > 0 &&
    keys.every(key => key.length <= MAX_KEY_LENGTH && !(key in Object.prototype) && !/^[0-9]/.test(key))
  )
}

/** A shape that a decoder knows. */
export class ReaderShape {
  readonly keys: readonly string[]
  code: ReadObject | undefined
  #uses = 0

  constructor(keys: readonly string[]) {
    this.keys = keys
  }

  countUse(): void {
    if (++this.#uses === USES_BEFORE_CODE) this.code = generateReader(this.keys)
  }
}

/** A decoder's shapes: the table, read as far as messages have named its entries. */
export class ShapeReader {
  readonly #table: ShapeTable
  readonly #shapes: ReaderShape[] = []

  constructor(table: ShapeTable) {
    this.#table = table
  }

  get(number: number): ReaderShape {
    const shape = this.#shapes[number]
    if (shape !== undefined) return shape
    if (number >= MAX_SHAPES) throw new CorruptMessageError('it names a shape beyond the last')
    while (this.#shapes.length <= number) this.#shapes.push(new ReaderShape(this.#table.next()))
    return this.#shapes[number]!
  }
}
