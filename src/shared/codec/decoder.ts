// Bytes to value. Trusts nothing that it reads: damaged bytes give an error or some other value, of a size in proportion
// to the message, and never what stands outside of it.
import {
  readBoxed,
  readBuffer,
  readDataView,
  readMap,
  readRegExp,
  readSet,
  readTypedArray,
} from './builtin-reader.js'
import { ByteReader } from './byte-reader.js'
import {
  ArrayIntrinsic,
  DateIntrinsic,
  LONGEST_ROW,
  max,
  min,
  typedArrayBuffer,
  Uint8ArrayIntrinsic,
} from './intrinsics.js'
import type { KnownShape, KnownShapes } from './known-shapes.js'
import type { LongMessage } from './long-message.js'
import { defineField, inheritsAsAtFirst, setElement, setField } from './own-fields.js'
import * as tags from './tags.js'

export { CorruptMessageError } from './corrupt-message-error.js'

type Fields = Record<string, unknown>

/** Arrays up to this length cost little even when almost all of their elements are holes. */
const SHORT_ARRAY = 16
/** An element so far behind the room of an array makes it a table; V8 keeps a row where the gap is shorter than 1024. */
const FAR_BEHIND = 2048
const LAST_INDEX = 2 ** 32 - 2

export class Decoder extends ByteReader {
  readonly shapes: KnownShapes
  #isGraph = false
  #objects: unknown[] = []
  #depth = 0
  /** So many elements may still be claimed: each takes a byte of the message, in whatever array it is. */
  #elementsLeft = 0
  /** Asked once a message, when it matters. */
  #isSafeToSet: boolean | undefined

  constructor(memory: ArrayBufferLike, shapes: KnownShapes) {
    super(memory)
    this.shapes = shapes
  }

  /** The value written at `from`. Throws CorruptMessageError on damaged bytes; reads nothing beyond `to`. */
  decode(from: number, to: number): unknown {
    this.#depth = 0
    this.#elementsLeft = to - from
    this.#isSafeToSet = undefined
    const mode = this.begin(from, to)
    if (mode === tags.TREE) {
      this.#isGraph = false
      return this.read()
    }
    if (mode !== tags.GRAPH) this.damaged('no message begins')
    this.#isGraph = true
    try {
      return this.read()
    } finally {
      this.#objects = []
    }
  }

  /** From now on this reader reads this message; its value is for `LongDecoder` to put together. */
  beginMessage(message: LongMessage): void {
    this.#depth = 0
    this.#isGraph = message.isGraph
    this.#objects = []
    this.beginLong(message)
    this.#elementsLeft = this.bytesLeft
  }

  /** The program has run meanwhile. */
  lookAnew(): void {
    this.#isSafeToSet = undefined
  }

  read(): unknown {
    const tag = this.byte()
    if (tag >= tags.SMALL_INT) return tag - tags.SMALL_INT
    if (tag >= tags.SHORT_TEXT) return this.text(tag - tags.SHORT_TEXT)
    if (tag >= tags.SHORT_SHAPED) return this.#shaped(tag - tags.SHORT_SHAPED)
    return this.#readTagged(tag)
  }

  #readTagged(tag: number): unknown {
    switch (tag) {
      case tags.UNDEFINED:
        return undefined
      case tags.NULL:
        return null
      case tags.TRUE:
        return true
      case tags.FALSE:
        return false
      case tags.INT32:
        return this.int32()
      case tags.DOUBLE:
        return this.double()
      case tags.BIGINT64:
        return this.bigint64()
      case tags.BIGINT:
        return this.bigint(this.byte() === 1, this.read())
      case tags.TEXT:
        return this.text(this.byte())
      case tags.LATIN1:
        return this.latin1(this.uint32())
      case tags.UTF16:
        return this.utf16(this.uint32())
      case tags.SAME:
        return this.#same(this.uint32())
      case tags.SHAPED:
        return this.#shaped(this.uint32())
      default:
        return this.#readObject(tag)
    }
  }

  #readObject(tag: number): unknown {
    if (++this.#depth > tags.DEEPEST) this.damaged('it nests too deep')
    const object = this.#makeObject(tag)
    this.#depth--
    return object
  }

  #makeObject(tag: number): unknown {
    switch (tag) {
      case tags.EMPTY_OBJECT:
        return this.begins({})
      case tags.KEYED:
        return this.#keyed(this.begins({}))
      case tags.ARRAY:
        return this.#array(this.count(1))
      case tags.SPARSE_ARRAY:
        return this.#sparseArray(this.uint32())
      case tags.DATE:
        return this.begins(new DateIntrinsic(this.double()))
      case tags.MAP:
        return readMap(this)
      case tags.SET:
        return readSet(this)
      case tags.REGEXP:
        return readRegExp(this)
      case tags.BUFFER:
        return readBuffer(this)
      case tags.HANDED:
        return this.begins(this.handed(this.uint32()))
      case tags.TYPED_ARRAY:
        return readTypedArray(this)
      case tags.DATA_VIEW:
        return readDataView(this)
      case tags.BOXED:
        return readBoxed(this)
      default:
        return this.damaged(`no value has the tag ${tag}`)
    }
  }

  /** Numbers an object at its beginning, as the encoder did. */
  begins<T>(object: T): T {
    if (this.#isGraph) this.#objects[this.#objects.length] = object
    return object
  }

  /** For an object that cannot be made before its parts. */
  reserves(): number {
    const number = this.#objects.length
    if (this.#isGraph) this.#objects[number] = undefined
    return number
  }

  becomes(number: number, object: object): void {
    if (this.#isGraph) this.#objects[number] = object
  }

  /** A count of things that take at least so many bytes each: no more are claimed than the message can hold. */
  count(bytesEach: number): number {
    const count = this.uint32()
    if (count * bytesEach > this.to - this.at + this.beyond) this.damaged('it counts beyond its end')
    return count
  }

  raw(length: number): Uint8Array {
    this.take(-this.at & 7)
    const from = this.take(length)
    return new Uint8ArrayIntrinsic(typedArrayBuffer(this.bytes) as ArrayBuffer, from, length)
  }

  #same(number: number): unknown {
    const object = this.#objects[number]
    if (object === undefined) this.damaged('it points to an object that is not there')
    return object
  }

  /** An object with all its keys, before its values are there. */
  blank(shape: KnownShape): Fields {
    if (shape.read !== undefined) return this.begins(shape.read.blank())
    shape.countUse()
    return this.begins({})
  }

  #shaped(number: number): object {
    if (++this.#depth > tags.DEEPEST) this.damaged('it nests too deep')
    const shape = this.shapes.get(number)
    const object =
      shape.read === undefined
        ? this.#readSlowly(shape)
        : this.#isGraph
          ? this.#fill(this.begins(shape.read.blank()), shape.keys)
          : shape.read.whole(this)
    this.#depth--
    return object
  }

  #readSlowly(shape: KnownShape): object {
    shape.countUse()
    const object = this.begins({})
    for (const key of shape.keys) defineField(object, key, this.read())
    return object
  }

  #fill(object: Fields, keys: readonly string[]): object {
    for (let index = 0; index < keys.length; index++) object[keys[index]!] = this.read()
    return object
  }

  #keyed(object: object): object {
    while (!this.ends()) {
      const key = this.key()
      this.setField(object, key, this.read())
    }
    return object
  }

  setField(object: object, key: string, value: unknown): void {
    this.#isSafeToSet ??= inheritsAsAtFirst()
    if (this.#isSafeToSet) setField(object, key, value)
    else defineField(object, key, value)
  }

  key(): string {
    const key = this.read()
    return typeof key === 'string' ? key : this.damaged('a key is no string')
  }

  ends(): boolean {
    if (this.peek() !== tags.END || this.at === this.to) return false
    this.at++
    return true
  }

  #array(length: number): unknown[] {
    const array = this.blankArray(length)
    for (let index = 0; index < length; ) {
      const count = this.readInto(array, index, length)
      if (count === 0) setElement(array, index, this.read())
      index += count || 1
    }
    return array
  }

  /** An array that is all holes so far: one that grows would keep more memory than it needs. */
  blankArray(length: number): unknown[] {
    if (length > this.#elementsLeft) this.damaged('its arrays count beyond its end')
    this.#elementsLeft -= length
    const make = length > LONGEST_ROW ? makeEmpty : this.peek() === tags.DOUBLES ? makeDoubles : makeRow
    return this.begins(make(length))
  }

  /** What an array holds besides values, a hole or a row of numbers: so many elements of it were read. 0: a value comes. */
  readInto(array: unknown[], index: number, length: number): number {
    switch (this.peek()) {
      case tags.HOLE:
        this.at++
        if (index === array.length) array.length++
        return 1
      case tags.INT32S:
        this.at++
        return this.#numbers(array, index, length, true)
      case tags.DOUBLES:
        this.at++
        return this.#numbers(array, index, length, false)
      default:
        return 0
    }
  }

  #numbers(array: unknown[], from: number, length: number, areInt32: boolean): number {
    const count = this.count(areInt32 ? 4 : 8)
    if (count > length - from) this.damaged('an array is longer than it says')
    for (let index = from; index < from + count; index++)
      setElement(array, index, areInt32 ? this.int32() : this.double())
    return count
  }

  #sparseArray(length: number): unknown[] {
    const array: unknown[] = this.begins([])
    while (!this.ends()) {
      const key = this.key()
      this.setSparse(array, key, this.read())
    }
    return this.lengthened(array, length)
  }

  setSparse(array: unknown[], key: string, value: unknown): void {
    if (key === 'length' || !defineField(array, key, value)) this.damaged('a key that no writer writes')
  }

  /**
   * A length alone must not claim memory. An array that gets an element far behind its others, and behind the room that it
   * has, is kept by the runtime as a table of what is there, and stays one when that element goes.
   */
  lengthened(array: unknown[], length: number): unknown[] {
    if (array.length > length) this.damaged('an array is longer than it says')
    if (length > 2 * array.length + SHORT_ARRAY) {
      const far = `${min(max(length - 1, 2 * array.length + FAR_BEHIND), LAST_INDEX)}`
      defineField(array, far, undefined)
      delete array[far as never]
    }
    array.length = length
    return array
  }
}

// The runtime learns for each of these places what the arrays made there come to hold, and doubles are kept unlike all else.

function makeRow(length: number): unknown[] {
  return new ArrayIntrinsic(length)
}

function makeDoubles(length: number): unknown[] {
  return new ArrayIntrinsic(length)
}

function makeEmpty(): unknown[] {
  return []
}
