// Encodes a value to bytes. A value that the encoder accepts decodes to exactly the value that structuredClone gives.
// The encoder declines all other values. The only exception is a platform object with the prototype of plain objects,
// which counts as a plain object. Getters of the value run once each, during encoding. They can change the value. They
// can also submit another task, which calls the encoder.
import { inspect, types } from '../platform/node-modules.js'
import { hasInternalSlots, hasRareInternalSlots, writeBuiltin, writeView } from './builtins.js'
import * as format from './format.js'
import { References } from './references.js'
import { type ShapeTable, ShapeWriter, WriterShape } from './shapes.js'
import { LargeDraft, type LargeSizes, NO_ROOM_LEFT, UNKNOWN_VALUE, Writer } from './writer.js'

/** The codec cannot encode the value. The caller sends it by message port. */
export const DECLINED = -1
/** The value is too large for the given bytes. */
export const NO_ROOM = -2
/** The value is too large for the given bytes, so it is a large message: `takeLarge()`. */
export const LARGE = -3

/** From this length on, the encoder writes numbers as rows. */
const MIN_ROW_LENGTH = 8
/** Arrays from this length on are checked without listing their keys: a million keys take 0.1 s (benchmark row P14). */
const MANY_ELEMENTS = 2 ** 16
const namedFieldsOnly = {
  maxArrayLength: 0,
  depth: 0,
  customInspect: false,
  showProxy: false,
  breakLength: Infinity,
}
const { hasOwn, getPrototypeOf } = Object
const { isArray } = Array
const { toStringTag } = Symbol
const { isProxy } = types

type Fields = Record<string, unknown>

export class Encoder extends Writer {
  readonly #shapes: ShapeWriter
  readonly #references = new References()
  /** A placeholder for the shape before the first shape of each message. */
  readonly #firstShape = new WriterShape(-1, [])
  #previous = this.#firstShape
  #depth = 0
  #isGraph = false
  #isWriting = false
  #large: format.LargeMessage | null = null
  /** `Object.prototype` has an enumerable key, so `for in` also visits inherited keys. */
  #isPolluted = false

  constructor(memory: SharedArrayBuffer, table: ShapeTable) {
    super(memory)
    this.#shapes = new ShapeWriter(table)
  }

  /**
   * Writes `value` between the bytes `from` and `to`. Returns its end, or `DECLINED`, or `NO_ROOM`. Never throws.
   * @param sizes given: a value without room becomes a large message, and the result is `LARGE` in place of `NO_ROOM`
   */
  encode(value: unknown, from: number, to: number, sizes: LargeSizes | null = null): number {
    // A getter of the current value has called the encoder.
    if (this.#isWriting) return DECLINED
    this.#prepare()
    try {
      this.beginMessage(from, to)
      this.spillSizes = sizes
      this.write(value)
      if (this.draft === null) this.expectTextRoom()
      if (this.draft !== null) {
        this.#large = this.finishLarge(this.draft, this.#isGraph)
        return LARGE
      }
      return this.finish(from, this.#isGraph ? format.GRAPH : format.TREE)
    } catch (refusal) {
      return refusal === NO_ROOM_LEFT ? NO_ROOM : DECLINED
    } finally {
      this.#end()
    }
  }

  /** The message of the value for which `encode()` has just returned `LARGE`. */
  takeLarge(): format.LargeMessage {
    const large = this.#large!
    this.#large = null
    return large
  }

  /** Writes a value of any size. Returns `null` when it declines the value. Never throws. */
  encodeLarge(value: unknown, draft = new LargeDraft()): format.LargeMessage | null {
    if (this.#isWriting) return null
    this.#prepare()
    try {
      this.beginLarge(draft)
      this.write(value)
      return this.finishLarge(draft, this.#isGraph)
    } catch {
      return null
    } finally {
      this.#end()
    }
  }

  #prepare(): void {
    this.#isWriting = true
    this.#isGraph = false
    this.#depth = 0
    this.#previous = this.#firstShape
    this.#isPolluted = isObjectPrototypePolluted()
  }

  #end(): void {
    this.#references.clear()
    this.reset()
    this.#isWriting = false
  }

  write(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.number(value)
      case 'object':
        return value === null ? this.tag(format.NULL) : this.#object(value)
      case 'boolean':
        return this.tag(value ? format.TRUE : format.FALSE)
      case 'undefined':
        return this.tag(format.UNDEFINED)
      case 'bigint':
        return this.bigint(value)
      default:
        throw UNKNOWN_VALUE
    }
  }

  #object(object: object): void {
    // This check comes first, so that no trap of a proxy runs.
    if (isProxy(object)) throw UNKNOWN_VALUE
    const number = this.#references.numberOf(object)
    if (number !== -1) return this.#reference(number)
    if (++this.#depth > format.MAX_DEPTH) throw UNKNOWN_VALUE
    const { position } = this
    if (isArray(object)) this.#array(object)
    // This check comes before any check of keys, because each element of a view is a key.
    else if (ArrayBuffer.isView(object)) writeView(this, object)
    else if (!this.#expectedObject(object)) this.#otherObject(object)
    if (this.draft !== null) this.noteLarge(this.draft, position)
    this.#depth--
  }

  #reference(number: number): void {
    this.#isGraph = true
    this.head(format.REFERENCE, number)
  }

  /** Writes an object of the shape that followed the previous object last time. Returns false for another shape. */
  #expectedObject(object: object): boolean {
    const { next } = this.#previous
    if (next === undefined || this.#isPolluted || !hasKeys(object, next.keys)) return false
    this.#previous = next
    if (next.write !== undefined) return next.write(object, this)
    if (getPrototypeOf(object) !== Object.prototype || toStringTag in object || hasInternalSlots(object))
      return false
    this.shape(next.number)
    this.#writeValues(object as Fields, next)
    return true
  }

  #otherObject(object: object): void {
    const prototype = getPrototypeOf(object)
    if (prototype === Map.prototype) this.#map(object as Map<unknown, unknown>)
    else if (prototype === Set.prototype) this.#set(object as Set<unknown>)
    else if (prototype !== Object.prototype && prototype !== null) writeBuiltin(this, object, prototype)
    else this.#plainObject(object as Fields)
  }

  #plainObject(object: Fields): void {
    if (toStringTag in object || hasInternalSlots(object) || hasRareInternalSlots(object)) throw UNKNOWN_VALUE
    const keys = Object.keys(object)
    const shape = this.#shapes.find(keys)
    if (shape !== undefined) {
      this.#previous.next = shape
      this.#previous = shape
      this.shape(shape.number)
      this.#writeValues(object, shape)
    } else if (keys.length === 0) {
      this.tag(format.EMPTY_OBJECT)
    } else {
      this.tag(format.KEYED_OBJECT)
      this.#writeFields(object, keys)
    }
  }

  shape(number: number): void {
    if (number < format.SHORT_SHAPES) this.tag(format.SHORT_SHAPE + number)
    else this.head(format.SHAPED_OBJECT, number)
  }

  #writeValues(object: Fields, shape: WriterShape): void {
    shape.countUse()
    for (const key of shape.keys) {
      const value = object[key]
      if (value === undefined) this.absent(object, key)
      else this.write(value)
    }
  }

  /** Writes `undefined` for a key of the shape. Declines if a getter has deleted the key, because the shape changed. */
  absent(object: object, key: string): void {
    if (!hasOwn(object, key)) throw UNKNOWN_VALUE
    this.tag(format.UNDEFINED)
  }

  /** Like structuredClone: uses the keys from before the first read, and skips keys that getters deleted meanwhile. */
  #writeFields(object: Fields, keys: readonly string[]): void {
    for (const key of keys) {
      if (!hasOwn(object, key)) continue
      this.string(key)
      this.write(object[key])
    }
    this.tag(format.END)
  }

  #array(array: unknown[]): void {
    const { length } = array
    if (getPrototypeOf(array) !== Array.prototype) throw UNKNOWN_VALUE
    if (length <= format.MAX_DENSE_LENGTH) this.expectRoom(length)
    if (length < MANY_ELEMENTS || !isDense(array)) {
      const keys = Object.keys(array)
      if (!areIndices(keys, length)) {
        this.head(format.SPARSE_ARRAY, length)
        return this.#writeFields(array as never, keys)
      }
    }
    this.head(format.ARRAY, length)
    if (length >= MIN_ROW_LENGTH) return this.#longArray(array, length)
    for (let index = 0; index < length; index++) this.#element(array, index, array[index])
  }

  /** Reads each element once, after the earlier elements are written. */
  #longArray(array: unknown[], length: number): void {
    let element = array[0]
    for (let index = 0; ; ) {
      if (typeof element === 'number') {
        index += this.row(array, index, length, element)
        if (index === length) return
        element = this.following
      } else {
        this.#element(array, index, element)
        if (++index === length) return
        element = array[index]
      }
    }
  }

  #element(array: unknown[], index: number, element: unknown): void {
    if (element === undefined && !hasOwn(array, index)) this.tag(format.HOLE)
    else this.write(element)
  }

  /** Copies all entries before it writes the first one, because a getter can change the map. */
  #map(map: Map<unknown, unknown>): void {
    this.expectRoom(2 * map.size)
    const entries: unknown[] = []
    Map.prototype.forEach.call(map, (value, key) => entries.push(key, value))
    this.head(format.MAP, entries.length / 2)
    for (const entry of entries) this.write(entry)
  }

  #set(set: Set<unknown>): void {
    this.expectRoom(set.size)
    const members: unknown[] = []
    Set.prototype.forEach.call(set, member => members.push(member))
    this.head(format.SET, members.length)
    for (const member of members) this.write(member)
  }
}

function isObjectPrototypePolluted(): boolean {
  for (const _ in Object.prototype) return true
  return false
}

/** The object has exactly these enumerable keys, in this order. */
function hasKeys(object: object, keys: readonly string[]): boolean {
  let index = 0
  for (const key in object) {
    if (index === keys.length || key !== keys[index]) return false
    index++
  }
  return index === keys.length
}

/** Indices come first and in order, so the last key shows whether all keys are indices. */
function areIndices(keys: readonly string[], length: number): boolean {
  return keys.length === length && (length === 0 || keys[length - 1] === `${length - 1}`)
}

/** The array has enumerable elements, no holes and no named fields. */
function isDense(array: readonly unknown[]): boolean {
  return Object.values(array).length === array.length && !hasNamedFields(array)
}

/** `inspect` shows named fields without listing the elements. */
function hasNamedFields(array: readonly unknown[]): boolean {
  return inspect(array, namedFieldsOnly) !== `[ ... ${array.length} more items ]`
}
