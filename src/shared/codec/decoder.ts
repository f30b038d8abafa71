// Decodes bytes to a value. Damaged bytes result in an error or in a wrong value. The size of a wrong value is in
// proportion to the message, and it never contains bytes from outside the message.
//
// The decoder reads a small message recursively, without a pause. It reads a large message with generators, which pause
// after some bytes so that the event loop can turn. The generators read only values that the message marks as large.
// All other values are read recursively.
import { readBoxed, readBuffer, readDataView, readRegExp, readTypedArray } from './builtins.js'
import * as format from './format.js'
import { Reader } from './reader.js'
import type { ReaderShape, ShapeReader } from './shapes.js'

type Fields = Record<string, unknown>
export type Steps = Generator<undefined, unknown, undefined>

/** V8 turns an array into a hash table when an index this far beyond its end is set. */
const TABLE_GAP = 1024
/** V8 joins these pieces when the string is first used. */
const TEXT_PIECE_BYTES = 2 ** 20
/** Reading these bytes takes about 0.1 ms. */
const STEP_BYTES = 2 ** 12
const NO_MEMORY = new ArrayBuffer(0)

/** Reads a large message. Each step reads about `stepBytes`; the last step returns the value. */
export function decodeLarge(
  message: format.LargeMessage,
  shapes: ShapeReader,
  stepBytes = STEP_BYTES,
): Steps {
  return new Decoder(NO_MEMORY, shapes).startLarge(message, stepBytes)
}

/** Reads a large message at once. */
export function decodeWholeLarge(
  message: format.LargeMessage,
  shapes: ShapeReader,
  valueOfHandle: (id: number) => unknown,
): unknown {
  const decoder = new Decoder(NO_MEMORY, shapes)
  decoder.valueOfHandle = valueOfHandle
  const steps = decoder.startLarge(message, Number.POSITIVE_INFINITY)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

export class Decoder extends Reader {
  readonly shapes: ShapeReader
  /** Finds what handles stand for. Only workers know it. */
  valueOfHandle: (id: number) => unknown = id => this.damaged(`it has a handle with the number ${id}`)
  #isGraph = false
  /** The objects of the message by number. Used only for a graph. */
  #objects: unknown[] = []
  #depth = 0
  /** Limits the memory of all arrays together: each element has at least one byte in the message. */
  #elementsLeft = 0

  constructor(memory: ArrayBufferLike, shapes: ShapeReader) {
    super(memory)
    this.shapes = shapes
  }

  /** Reads the value at `from`. Throws `CorruptMessageError` for damaged bytes. Reads nothing beyond `to`. */
  decode(from: number, to: number): unknown {
    this.#depth = 0
    this.#elementsLeft = to - from
    const mode = this.beginMessage(from, to)
    this.#isGraph = mode === format.GRAPH
    if (mode === format.TREE) return this.read()
    if (mode !== format.GRAPH) this.damaged('no message starts')
    try {
      return this.read()
    } finally {
      this.#objects = []
    }
  }

  /** Only for `decodeLarge`. Call it once for each decoder. */
  startLarge(message: format.LargeMessage, stepBytes: number): Steps {
    this.#isGraph = message.isGraph
    this.beginLarge(message, stepBytes)
    this.#elementsLeft = this.bytesLeft
    return this.#readPart()
  }

  read(): unknown {
    const tag = this.byte()
    if (tag >= format.SMALL_INT) return tag - format.SMALL_INT
    if (tag >= format.SHORT_TEXT) return this.text(tag - format.SHORT_TEXT)
    if (tag >= format.SHORT_SHAPE) return this.#shapedObject(tag - format.SHORT_SHAPE)
    return this.#readTagged(tag)
  }

  #readTagged(tag: number): unknown {
    switch (tag) {
      case format.UNDEFINED:
        return undefined
      case format.NULL:
        return null
      case format.TRUE:
        return true
      case format.FALSE:
        return false
      case format.INT32:
        return this.int32()
      case format.DOUBLE:
        return this.double()
      case format.BIGINT64:
        return this.bigint64()
      case format.BIGINT:
        return this.bigint(this.byte() === 1, this.read())
      case format.TEXT:
        return this.text(this.byte())
      case format.LATIN1:
        return this.latin1(this.uint32())
      case format.UTF16:
        return this.utf16(this.uint32())
      case format.REFERENCE:
        return this.#objects[this.uint32()] ?? this.damaged('it names an object that is not there')
      case format.SHAPED_OBJECT:
        return this.#shapedObject(this.uint32())
      default:
        return this.#readObject(tag)
    }
  }

  #readObject(tag: number): unknown {
    this.#enter()
    const object = this.#makeObject(tag)
    this.#depth--
    return object
  }

  #enter(): void {
    if (++this.#depth > format.MAX_DEPTH) this.damaged('it nests too deep')
  }

  #makeObject(tag: number): unknown {
    switch (tag) {
      case format.EMPTY_OBJECT:
        return this.register({})
      case format.KEYED_OBJECT:
        return this.#fields(this.register({}))
      case format.ARRAY:
        return this.#array()
      case format.SPARSE_ARRAY:
        return this.#sparseArray()
      case format.DATE:
        return this.register(new Date(this.double()))
      case format.MAP:
        return this.#map()
      case format.SET:
        return this.#set()
      case format.REGEXP:
        return readRegExp(this)
      case format.BUFFER:
        return readBuffer(this)
      case format.SEPARATE_BUFFER:
        return this.register(this.separate(this.uint32()))
      case format.TYPED_ARRAY:
        return readTypedArray(this)
      case format.DATA_VIEW:
        return readDataView(this)
      case format.BOXED:
        return readBoxed(this)
      case format.HANDLE:
        return this.register(this.valueOfHandle(this.uint32()))
      default:
        return this.damaged(`no value has the tag ${tag}`)
    }
  }

  register<T>(object: T): T {
    if (this.#isGraph) this.#objects.push(object)
    return object
  }

  reserve(): number {
    return this.#isGraph ? this.#objects.push(undefined) - 1 : 0
  }

  replace(number: number, object: object): void {
    if (this.#isGraph) this.#objects[number] = object
  }

  #shapedObject(number: number): object {
    this.#enter()
    const shape = this.shapes.get(number)
    const { code } = shape
    const object =
      code === undefined || this.#isGraph ? fillFields(this, this.#blank(shape), shape.keys) : code.read(this)
    this.#depth--
    return object
  }

  /** Creates an object of a shape, without its values. */
  #blank(shape: ReaderShape): Fields {
    if (shape.code !== undefined) return this.register(shape.code.blank())
    shape.countUse()
    return this.register({})
  }

  #fields<T extends object>(object: T): T {
    while (!this.#ends()) {
      const key = readKey(this, object)
      setField(object, key, this.read())
    }
    return object
  }

  #ends(): boolean {
    if (this.peek() !== format.END || this.at === this.to) return false
    this.at++
    return true
  }

  #array(): unknown[] {
    const length = this.count(1)
    const array = this.#emptyArray(length)
    this.#readElements(array, 0, length, Number.POSITIVE_INFINITY)
    return array
  }

  /** Reads elements up to the byte `pauseAt`. Returns how many elements the array has. */
  #readElements(array: unknown[], from: number, length: number, pauseAt: number): number {
    let index = from
    while (index < length && this.position < pauseAt) {
      const count = this.#holeOrNumbers(array, index, length)
      if (count === 0) array[index] = this.read()
      index += count || 1
    }
    return index
  }

  #emptyArray(length: number): unknown[] {
    if (length > this.#elementsLeft) this.damaged('its arrays count beyond its end')
    this.#elementsLeft -= length
    return this.register(length > format.MAX_DENSE_LENGTH ? [] : new Array(length))
  }

  /** Reads a hole or a row of numbers. Returns the number of elements that it read; 0 when a value comes next. */
  #holeOrNumbers(array: unknown[], index: number, length: number): number {
    switch (this.peek()) {
      case format.HOLE:
        this.at++
        if (index === array.length) array.length++
        return 1
      case format.INT32_ROW:
        this.at++
        return readNumbers(this, array, index, length, true)
      case format.DOUBLE_ROW:
        this.at++
        return readNumbers(this, array, index, length, false)
      default:
        return 0
    }
  }

  #sparseArray(): unknown[] {
    const length = this.uint32()
    return lengthen(this, this.#fields<unknown[]>(this.register([])), length)
  }

  #map(): Map<unknown, unknown> {
    const map = this.register(new Map<unknown, unknown>())
    for (let left = this.count(2); left > 0; left--) {
      const key = this.read()
      map.set(key, this.read())
    }
    return map
  }

  #set(): Set<unknown> {
    const set = this.register(new Set<unknown>())
    for (let left = this.count(1); left > 0; left--) set.add(this.read())
    return set
  }

  // The methods below read a large message. Each generator reads a container that the message marks as large.

  /** Reads a value that is marked as large, or the whole message. */
  *#readPart(): Steps {
    const steps = this.#stepsOf(this.peek())
    if (steps === null) return this.read()
    this.#enter()
    const value = yield* steps
    this.#depth--
    return value
  }

  /** Returns `null` when the value with this tag must be read without a pause. */
  #stepsOf(tag: number): Steps | null {
    if (tag >= format.SHORT_SHAPE && tag < format.SHORT_SHAPE + format.SHORT_SHAPES) {
      return this.#shapedObjectSteps(this.byte() - format.SHORT_SHAPE)
    }
    switch (tag) {
      case format.SHAPED_OBJECT:
        this.at++
        return this.#shapedObjectSteps(this.uint32())
      case format.KEYED_OBJECT:
        this.at++
        return this.#fieldSteps(this.register({}))
      case format.ARRAY:
        this.at++
        return this.#arraySteps()
      case format.SPARSE_ARRAY:
        this.at++
        return this.#sparseArraySteps()
      case format.MAP:
        this.at++
        return this.#mapSteps()
      case format.SET:
        this.at++
        return this.#setSteps()
      case format.LATIN1:
      case format.UTF16:
        this.at++
        return this.#textSteps(tag === format.UTF16)
      default:
        return null
    }
  }

  *#arraySteps(): Steps {
    const length = this.count(1)
    const array = this.#emptyArray(length)
    for (let index = 0; index < length; ) {
      if (this.isStepOver()) yield
      if (this.isLargeNext()) array[index++] = yield* this.#readPart()
      // A plain method, because V8 optimises a loop in a generator too late.
      else index = this.#readElements(array, index, length, this.nextPause)
    }
    return array
  }

  *#shapedObjectSteps(number: number): Steps {
    const shape = this.shapes.get(number)
    const object = this.#blank(shape)
    for (const key of shape.keys) {
      if (this.isStepOver()) yield
      setField(object, key, this.isLargeNext() ? yield* this.#readPart() : this.read())
    }
    return object
  }

  *#fieldSteps(object: object): Steps {
    while (!this.#ends()) {
      if (this.isStepOver()) yield
      const key = readKey(this, object)
      setField(object, key, this.isLargeNext() ? yield* this.#readPart() : this.read())
    }
    return object
  }

  *#sparseArraySteps(): Steps {
    const length = this.uint32()
    const array: unknown[] = this.register([])
    yield* this.#fieldSteps(array)
    return lengthen(this, array, length)
  }

  *#mapSteps(): Steps {
    const map = this.register(new Map<unknown, unknown>())
    for (let left = this.count(2); left > 0; left--) {
      if (this.isStepOver()) yield
      const key = this.isLargeNext() ? yield* this.#readPart() : this.read()
      map.set(key, this.isLargeNext() ? yield* this.#readPart() : this.read())
    }
    return map
  }

  *#setSteps(): Steps {
    const set = this.register(new Set<unknown>())
    for (let left = this.count(1); left > 0; left--) {
      if (this.isStepOver()) yield
      set.add(this.isLargeNext() ? yield* this.#readPart() : this.read())
    }
    return set
  }

  *#textSteps(isWide: boolean): Steps {
    let text = ''
    for (let left = this.count(1); left > 0; left -= TEXT_PIECE_BYTES) {
      if (this.isStepOver()) yield
      const size = Math.min(left, TEXT_PIECE_BYTES)
      text += isWide ? this.utf16(size) : this.latin1(size)
    }
    return text
  }
}

/** Sets an own field of an object or an array. Assigning an inherited key could call a setter or fail. */
function setField(object: object, key: string, value: unknown): void {
  if (key in Array.prototype)
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  else (object as Fields)[key] = value
}

function fillFields(decoder: Decoder, object: Fields, keys: readonly string[]): Fields {
  for (const key of keys) setField(object, key, decoder.read())
  return object
}

function readKey(decoder: Decoder, object: object): string {
  const key = decoder.read()
  if (typeof key !== 'string') return decoder.damaged('a key is not a string')
  if (key === 'length' && Array.isArray(object)) return decoder.damaged('a key that is never written')
  return key
}

/** Reads a row of numbers. Returns how many there are. */
function readNumbers(
  decoder: Decoder,
  array: unknown[],
  from: number,
  length: number,
  areInt32: boolean,
): number {
  const count = decoder.count(areInt32 ? 4 : 8)
  if (count > length - from) decoder.damaged('an array is longer than it says')
  for (let index = from; index < from + count; index++)
    array[index] = areInt32 ? decoder.int32() : decoder.double()
  return count
}

/** Sets the length without allocating memory for it: a far element makes the array a hash table, and it stays one. */
function lengthen(decoder: Decoder, array: unknown[], length: number): unknown[] {
  if (array.length > length) decoder.damaged('an array is longer than it says')
  if (length > array.length + TABLE_GAP) {
    array[length - 1] = undefined
    delete array[length - 1]
  }
  array.length = length
  return array
}
