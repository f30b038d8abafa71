// Shapes are lists of keys that objects have in common. The encoder writes an object of a known shape as the number of
// the shape and the values. It appends shapes to a table in shared memory, and decoders read them from the table.
import { bufferOver, CorruptMessageError, isWideText, type StringBuffer } from './format.js'
import { generateReader, generateWriter, type ReadObject, type WriteObject } from './generated-code.js'

export const MAX_KEYS = 128
export const MAX_SHAPES = 512
export const MAX_KEY_LENGTH = 100
/** The most lists of keys that are remembered after their first use. */
const MAX_CANDIDATES = 256
/** The number of uses after which code is generated for a shape. */
const USES_BEFORE_CODE = 8

/**
 * The table of shapes. Entries never change. An entry is complete before the encoder publishes a message that names it.
 *
 *   entry   count of keys (16 bits), then each key
 *   key     length (15 bits), 1 if it has two bytes for each character (1 bit), bytes
 *
 * A count of zero marks the current end of the table.
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

  /** For the encoder. Returns false when the table is full. */
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

  /** For a decoder. Returns the keys of the next entry. */
  next(): string[] {
    const keys: string[] = []
    let at = this.#at
    const count = this.#readWord(at)
    at += 2
    if (count === 0 || count > MAX_KEYS) throw new CorruptMessageError('it names an unwritten shape')
    while (keys.length < count) {
      const head = this.#readWord(at)
      const isWide = (head & 1) === 1
      const length = head >> 1
      const from = at + 2
      at = from + (isWide ? length * 2 : length)
      if (length > MAX_KEY_LENGTH || at > this.#to) throw new CorruptMessageError('a key is too long')
      const key = isWide ? this.#bytes.ucs2Slice(from, at) : this.#bytes.latin1Slice(from, at)
      // In generated code this key would set the prototype.
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
  /** The shape that followed this one last time. It usually follows again. */
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
 * The shapes of an encoder. It appends a shape to the table only when its keys soon occur a second time. So objects
 * with arbitrary keys do not fill the table. All memory is bounded.
 */
export class ShapeWriter {
  readonly #table: ShapeTable
  readonly #shapes = new Map<string, WriterShape>()
  readonly #candidates = new Set<string>()

  /** The caller must not append to this table elsewhere. */
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

/** Needed because two lists of keys can have the same name if a key contains a zero character. */
function hasKeys(shape: WriterShape, keys: readonly string[]): boolean {
  return shape.keys.length === keys.length && shape.keys.every((key, index) => key === keys[index])
}

/** Refuses keys that every object inherits, and indices, because an object lists its indices first. */
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

/** The shapes of a decoder. It reads an entry of the table when a message first names the entry. */
export class ShapeReader {
  readonly #table: ShapeTable
  readonly #shapes: ReaderShape[] = []

  constructor(table: ShapeTable) {
    this.#table = table
  }

  get(number: number): ReaderShape {
    const shape = this.#shapes[number]
    if (shape !== undefined) return shape
    if (number >= MAX_SHAPES) throw new CorruptMessageError(`it names shape ${number} of ${MAX_SHAPES}`)
    while (this.#shapes.length <= number) this.#shapes.push(new ReaderShape(this.#table.next()))
    return this.#shapes[number]!
  }
}
