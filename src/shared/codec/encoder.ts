// Value to bytes. What is written reads back as exactly what structuredClone gives; whatever the encoder is not sure of,
// it declines. (One thing it cannot know: a platform object that was given the prototype of plain ones is taken for one.) A getter of the user may run while a value is written, and do anything: change the value, or submit
// another task and so come back here.
import { writeBuiltin, writeView } from './builtin-writer.js'
import { ByteWriter, NO_ROOM_LEFT, UNKNOWN_VALUE } from './byte-writer.js'
import type { Dictionary } from './dictionary.js'
import {
  ArrayIntrinsic,
  copyLong,
  hasNoNamedFields,
  hasOwn,
  isArray,
  isProxy,
  isView,
  LONG_COPY,
  LONGEST_ROW,
  ObjectIntrinsic,
  ownKeys,
  ownValues,
  prototypeOf,
  toStringTag,
  typedArraySet,
} from './intrinsics.js'
import { KnownObjects } from './known-objects.js'
import { LearnedShape, LearnedShapes } from './learned-shapes.js'
import { LongDraft } from './long-draft.js'
import type { LongMessage } from './long-message.js'
import { hasRareSlots, hasSlots } from './slots.js'
import * as tags from './tags.js'

/** The codec does not know the value: the port takes it. */
export const DECLINED = -1
/** The value does not fit. */
export const NO_ROOM = -2

/** From so many elements on, numbers are written in rows. */
const SHORTEST_ROW = 8
/** A tag, a count, and what it takes to the next multiple of 8. */
const LARGEST_RAW_HEAD = 12
/** From so many elements on, telling that an array holds them and nothing else is not done by their names. */
const MANY_ELEMENTS = 2 ** 16
const arrayPrototype: object = ArrayIntrinsic.prototype
const objectPrototype: object = ObjectIntrinsic.prototype

type Fields = Record<string, unknown>

export class Encoder extends ByteWriter {
  readonly #shapes: LearnedShapes
  readonly #known = new KnownObjects()
  /** Stands before the first shape of each message. */
  readonly #start = new LearnedShape(-1, [])
  #previous = this.#start
  #depth = 0
  #isGraph = false
  #isWriting = false
  /** Plain objects inherit keys: what they are expected to have they may have from there. */
  #isPolluted = false

  /** Nobody else appends to the dictionary. */
  constructor(memory: SharedArrayBuffer, dictionary: Dictionary) {
    super(memory)
    this.#shapes = new LearnedShapes(dictionary)
  }

  /** Writes `value` from byte `from` on, not beyond `to`; tells where it ends, or DECLINED or NO_ROOM. Never throws. */
  encode(value: unknown, from: number, to: number): number {
    // A getter of the value being written has come back to us.
    if (this.#isWriting) return DECLINED
    this.#isWriting = true
    this.#isGraph = false
    this.#depth = 0
    this.#previous = this.#start
    this.#isPolluted = givesKeysToAll()
    try {
      this.begin(from, to)
      this.write(value)
      return this.finish(from, this.#isGraph ? tags.GRAPH : tags.TREE)
    } catch (refusal) {
      return refusal === NO_ROOM_LEFT ? NO_ROOM : DECLINED
    } finally {
      this.#known.clear()
      this.following = undefined
      this.forgetText()
      this.#isWriting = false
    }
  }

  /** The value as a message of any length, or `null` when it is declined. Never throws. */
  encodeLong(value: unknown, draft = new LongDraft()): LongMessage | null {
    if (this.#isWriting) return null
    this.#isWriting = true
    this.#isGraph = false
    this.#depth = 0
    this.#previous = this.#start
    this.#isPolluted = givesKeysToAll()
    try {
      this.beginLong(draft)
      this.write(value)
      this.finishLong(draft)
      return draft.finish(this.#isGraph)
    } catch {
      return null
    } finally {
      this.#known.clear()
      this.following = undefined
      this.forgetText()
      this.leaveLong()
      this.#isWriting = false
    }
  }

  write(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.number(value)
      case 'object':
        return value === null ? this.tag(tags.NULL) : this.#object(value)
      case 'boolean':
        return this.tag(value ? tags.TRUE : tags.FALSE)
      case 'undefined':
        return this.tag(tags.UNDEFINED)
      case 'bigint':
        return this.bigint(value)
      default:
        throw UNKNOWN_VALUE
    }
  }

  /** A key that reads as undefined is there, or a getter has deleted it meanwhile. */
  absent(object: object, key: string): void {
    if (!hasOwn(object, key)) throw UNKNOWN_VALUE
    this.tag(tags.UNDEFINED)
  }

  /** Its bytes from the next multiple of 8 on: copying is many times faster from there. */
  raw(bytes: Uint8Array): void {
    this.need(LARGEST_RAW_HEAD + bytes.length)
    this.head(tags.BUFFER, bytes.length)
    this.at = (this.at + 7) & ~7
    const end = this.at + bytes.length
    if (bytes.length < LONG_COPY) typedArraySet(this.bytes, bytes, this.at)
    else copyLong(this.bytes, bytes, this.at, end)
    this.at = end
  }

  /** A large buffer goes beside a long message, in a copy that becomes the reader's; false when it does not. */
  handsOver(bytes: Uint8Array): boolean {
    if (this.long === null || bytes.length < this.long.sizes.handedBytes) return false
    this.head(tags.HANDED, this.long.hand(bytes))
    return true
  }

  #object(object: object): void {
    // First of all, so that no trap of a proxy runs.
    if (isProxy(object)) throw UNKNOWN_VALUE
    const isList = isArray(object)
    const number = this.#known.numberOf(object, isList)
    if (number !== -1) return this.#same(number)
    if (++this.#depth > tags.DEEPEST) throw UNKNOWN_VALUE
    if (this.long !== null) this.long.begin(this.at)
    if (isList) this.#array(object as unknown[])
    // Not left to what follows, which looks at keys: each element of a view is one.
    else if (isView(object)) writeView(this, object)
    else if (!this.#expectedObject(object)) this.#otherObject(object)
    if (this.long !== null) this.long.end(this.at)
    this.#depth--
  }

  #same(number: number): void {
    this.#isGraph = true
    this.head(tags.SAME, number)
  }

  /** The quick way for an object of the shape that came at this place the last time; false when it is none. */
  #expectedObject(object: object): boolean {
    const { next } = this.#previous
    if (next === undefined || this.#isPolluted || !hasExactly(object, next.keys)) return false
    this.#previous = next
    if (next.write !== undefined) return next.write(object, this)
    if (prototypeOf(object) !== objectPrototype || toStringTag in object || hasSlots(object)) return false
    this.shape(next.number)
    this.#writeValues(object as Fields, next)
    return true
  }

  #otherObject(object: object): void {
    const prototype = prototypeOf(object)
    if (prototype !== objectPrototype && prototype !== null) return writeBuiltin(this, object, prototype)
    if (toStringTag in object || hasSlots(object) || hasRareSlots(object)) throw UNKNOWN_VALUE
    const keys = ownKeys(object)
    const shape = this.#shapes.find(keys)
    if (shape !== undefined) {
      this.#previous.next = shape
      this.#previous = shape
      this.shape(shape.number)
      this.#writeValues(object as Fields, shape)
    } else if (keys.length === 0) this.tag(tags.EMPTY_OBJECT)
    else {
      this.tag(tags.KEYED)
      this.#writeFields(object as Fields, keys)
    }
  }

  shape(number: number): void {
    if (number < tags.SHORT_SHAPES) this.tag(tags.SHORT_SHAPED + number)
    else this.head(tags.SHAPED, number)
  }

  #writeValues(object: Fields, shape: LearnedShape): void {
    shape.countUse()
    const { keys } = shape
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      const value = object[key]
      if (value === undefined) this.absent(object, key)
      else this.write(value)
    }
  }

  /** As structuredClone: the keys as they were before the first value was read, less those that are gone by their turn. */
  #writeFields(object: Fields, keys: readonly string[]): void {
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      if (!hasOwn(object, key)) continue
      this.string(key)
      this.write(object[key])
    }
    this.tag(tags.END)
  }

  #array(array: unknown[]): void {
    // Read first: where the runtime has seen what an object looks like, it need not be asked for the prototype.
    const { length } = array
    if (prototypeOf(array) !== arrayPrototype) throw UNKNOWN_VALUE
    if (length <= LONGEST_ROW) this.expectRoom(length)
    if (length < MANY_ELEMENTS || !isDense(array)) {
      const keys = ownKeys(array)
      if (!areIndices(keys, length)) return this.#sparseArray(array, keys)
    }
    this.head(tags.ARRAY, length)
    if (length >= SHORTEST_ROW) return this.#longArray(array, length)
    for (let index = 0; index < length; index++) this.#element(array, index, array[index])
  }

  /** Each element is read once, when those before it are written. */
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
    if (element === undefined && !hasOwn(array, index)) this.tag(tags.HOLE)
    else this.write(element)
  }

  #sparseArray(array: unknown[], keys: readonly string[]): void {
    this.head(tags.SPARSE_ARRAY, array.length)
    this.#writeFields(array as never, keys)
  }
}

/** Has somebody given all objects a key that a loop over theirs finds? */
function givesKeysToAll(): boolean {
  for (const _ in objectPrototype) return true
  return false
}

/** Inherited keys show up here too; of an object that is no plain one more is asked. */
function hasExactly(object: object, keys: readonly string[]): boolean {
  let index = 0
  for (const key in object) {
    if (index === keys.length || key !== keys[index]) return false
    index++
  }
  return index === keys.length
}

/** It holds enumerable elements, no holes, and nothing else. */
function isDense(array: readonly unknown[]): boolean {
  return ownValues(array).length === array.length && hasNoNamedFields(array)
}

/** Indices come first and in order, so the last key tells of them all. */
function areIndices(keys: readonly string[], length: number): boolean {
  return keys.length === length && (length === 0 || keys[length - 1] === `${length - 1}`)
}
