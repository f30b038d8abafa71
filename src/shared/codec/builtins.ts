// Writes and reads objects of JavaScript's built-in classes, except arrays, maps and sets. Like structured clone, this
// file checks the internal slots of an object: a method of the class throws when the object has other slots. The
// encoder then declines the value. The encoder also declines an object whose prototype was replaced, because the reader
// would lose the prototype.
import { noteLargeBuffer } from '../platform/allocator.js'
import { types } from '../platform/node-modules.js'
import * as format from './format.js'
import { Handle } from './handle.js'
import type { Reader } from './reader.js'
import { UNKNOWN_VALUE, type Writer } from './writer.js'

interface TypedArrayConstructor {
  readonly prototype: object
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBuffer, byteOffset: number, length: number): ArrayBufferView
}

const boxes: readonly { prototype: object }[] = [Number, String, Boolean, BigInt]

/** A message names the class of a typed array by its index in this list. Node 22 has no `Float16Array`. */
export const typedArrays: readonly [name: string, constructor: TypedArrayConstructor | undefined][] = [
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
].map(name => [name, (globalThis as Record<string, any>)[name]])

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype)
const typedArrayName = slotReader<string>(typedArrayPrototype, Symbol.toStringTag)
const typedArrayBuffer = slotReader<ArrayBuffer>(typedArrayPrototype, 'buffer')
const typedArrayOffset = slotReader<number>(typedArrayPrototype, 'byteOffset')
const typedArrayLength = slotReader<number>(typedArrayPrototype, 'length')
const dataViewBuffer = slotReader<ArrayBuffer>(DataView.prototype, 'buffer')
const dataViewOffset = slotReader<number>(DataView.prototype, 'byteOffset')
const dataViewLength = slotReader<number>(DataView.prototype, 'byteLength')
const bufferLength = slotReader<number>(ArrayBuffer.prototype, 'byteLength')
const isResizable = slotReader<boolean>(ArrayBuffer.prototype, 'resizable')

/** Returns a function that reads an internal slot, even if the object has an own property of the same name. */
function slotReader<T>(prototype: object, name: PropertyKey): (object: object) => T {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)!
  return object => get!.call(object)
}

/** True for a date, an error, a map and the like, even if its prototype was replaced by that of a plain object. */
export function hasInternalSlots(object: object): boolean {
  return (
    Object.prototype.toString.call(object) !== '[object Object]' || types.isMap(object) || types.isSet(object)
  )
}

const isRawJson = (JSON as { isRawJSON?: (value: unknown) => boolean }).isRawJSON ?? (() => false)

/** Finds the classes that `hasInternalSlots` misses. Slow, so call it only for an object without an expected shape. */
export function hasRareInternalSlots(object: object): boolean {
  return (
    types.isPromise(object) ||
    types.isWeakMap(object) ||
    types.isWeakSet(object) ||
    types.isAnyArrayBuffer(object) ||
    types.isBoxedPrimitive(object) ||
    types.isGeneratorObject(object) ||
    types.isMapIterator(object) ||
    types.isSetIterator(object) ||
    types.isExternal(object) ||
    isRawJson(object)
  )
}

export function writeBuiltin(out: Writer, value: object, prototype: object | null): void {
  if (prototype === Date.prototype) {
    out.double(format.DATE, Date.prototype.getTime.call(value))
  } else if (prototype === ArrayBuffer.prototype) {
    writeBuffer(out, value as ArrayBuffer)
  } else if (prototype === RegExp.prototype) {
    writeRegExp(out, value)
  } else if (value instanceof Handle) {
    out.head(format.HANDLE, value.read())
  } else {
    const box = boxes.find(box => box.prototype === prototype)
    expect(box !== undefined)
    out.tag(format.BOXED)
    out.write(box.prototype.valueOf.call(value))
  }
}

function expect(isKnown: boolean): asserts isKnown {
  if (!isKnown) throw UNKNOWN_VALUE
}

/** Does not send `lastIndex`, as structured clone. Any other own property could hide `source` or `flags`. */
function writeRegExp(out: Writer, value: object): void {
  expect(types.isRegExp(value) && Object.getOwnPropertyNames(value).length === 1)
  out.tag(format.REGEXP)
  out.string(value.source)
  out.string(value.flags)
}

function writeBuffer(out: Writer, buffer: ArrayBuffer): void {
  expect(!isResizable(buffer))
  // Throws for a detached buffer.
  const content = new Uint8Array(buffer)
  if (out.separate(content)) return
  if (content.length >= format.LARGE_COPY_BYTES) noteLargeBuffer()
  out.raw(content)
}

export function writeView(out: Writer, view: ArrayBufferView): void {
  const prototype = Object.getPrototypeOf(view)
  if (types.isDataView(view)) {
    expect(prototype === DataView.prototype)
    out.tag(format.DATA_VIEW)
    writeRange(out, dataViewBuffer(view), dataViewOffset(view), dataViewLength(view))
  } else {
    const name = typedArrayName(view)
    const kind = typedArrays.findIndex(([known]) => known === name)
    const View = typedArrays[kind]?.[1]
    // A `Buffer` arrives as a `Uint8Array`, as with structured clone.
    expect(prototype === View?.prototype || (View === Uint8Array && prototype === Buffer.prototype))
    out.head(format.TYPED_ARRAY, kind)
    writeRange(out, typedArrayBuffer(view), typedArrayOffset(view), typedArrayLength(view))
  }
}

function writeRange(out: Writer, buffer: ArrayBuffer, offset: number, length: number): void {
  // Throws if a getter of the value has detached a buffer that was already written.
  if (types.isArrayBuffer(buffer) && bufferLength(buffer) === 0) new Uint8Array(buffer)
  out.number(offset)
  out.number(length)
  out.write(buffer)
}

export function readRegExp(from: Reader): RegExp {
  const source = from.read()
  const flags = from.read()
  if (typeof source !== 'string' || typeof flags !== 'string') return from.damaged('not a regular expression')
  try {
    return from.register(new RegExp(source, flags))
  } catch {
    return from.damaged('not a regular expression')
  }
}

export function readBoxed(from: Reader): object {
  const value = from.read()
  switch (typeof value) {
    case 'number':
    case 'string':
    case 'boolean':
    case 'bigint':
      return from.register(Object(value))
    default:
      return from.damaged('a box without a primitive')
  }
}

export function readBuffer(from: Reader): ArrayBuffer {
  const length = from.count(1)
  const bytes = from.raw(length)
  return from.register(length < format.LARGE_COPY_BYTES ? new Uint8Array(bytes).buffer : largeCopyOf(bytes))
}

/** `allocUnsafeSlow` does not fill the memory with zeros first, as `new Uint8Array()` does. */
function largeCopyOf(bytes: Uint8Array): ArrayBuffer {
  noteLargeBuffer()
  return Buffer.allocUnsafeSlow(bytes.length).fill(bytes).buffer as ArrayBuffer
}

export function readTypedArray(from: Reader): ArrayBufferView {
  const View = typedArrays[from.uint32()]?.[1]
  return View === undefined ? from.damaged('an unknown typed array') : readView(from, View)
}

export function readDataView(from: Reader): ArrayBufferView {
  return readView(from, DataView)
}

function readView(from: Reader, View: TypedArrayConstructor | DataViewConstructor): ArrayBufferView {
  // A view gets its number before its buffer, but can only be created after the buffer.
  const number = from.reserve()
  const offset = from.read()
  const length = from.read()
  const buffer = from.read()
  if (!types.isArrayBuffer(buffer) || !isCount(offset) || !isCount(length)) return from.damaged('not a view')
  try {
    const view = new View(buffer, offset, length)
    from.replace(number, view)
    return view
  } catch {
    return from.damaged('a view beyond its buffer')
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isInteger(value)
}
