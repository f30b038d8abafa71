// Writes the objects that are neither plain nor arrays. Each is known by its inner slots, never by what it says of
// itself, and accepted only under the prototype it was born with: the other side could not tell a subclass.
import { noteLargeBuffer } from '../platform/allocator.js'
import { UNKNOWN_VALUE } from './byte-writer.js'
import type { Encoder } from './encoder.js'
import {
  ArrayBufferIntrinsic,
  BigIntIntrinsic,
  BooleanIntrinsic,
  BufferIntrinsic,
  bigIntValue,
  booleanValue,
  bufferIsResizable,
  bufferLength,
  DataViewIntrinsic,
  DateIntrinsic,
  dataViewBuffer,
  dataViewLength,
  dataViewOffset,
  dateTime,
  isArrayBuffer,
  isBigIntObject,
  isBooleanObject,
  isBoxedPrimitive,
  isDataView,
  isDate,
  isMap,
  isNumberObject,
  isRegExp,
  isSet,
  isStringObject,
  LONG_COPY,
  MapIntrinsic,
  mapForEach,
  mapSize,
  NumberIntrinsic,
  numberValue,
  prototypeOf,
  RegExpIntrinsic,
  regExpFlags,
  regExpSource,
  SetIntrinsic,
  StringIntrinsic,
  setForEach,
  setSize,
  stringValue,
  typedArrayBuffer,
  typedArrayLength,
  typedArrayName,
  typedArrayOffset,
  typedArrays,
  Uint8ArrayIntrinsic,
} from './intrinsics.js'
import * as tags from './tags.js'

export function writeBuiltin(out: Encoder, value: object, prototype: object | null): void {
  if (isDate(value)) {
    expect(prototype === DateIntrinsic.prototype)
    out.double(tags.DATE, dateTime(value))
  } else if (isMap(value)) {
    expect(prototype === MapIntrinsic.prototype)
    writeMap(out, value)
  } else if (isSet(value)) {
    expect(prototype === SetIntrinsic.prototype)
    writeSet(out, value)
  } else if (isArrayBuffer(value)) {
    writeBuffer(out, value, prototype)
  } else if (isRegExp(value)) {
    expect(prototype === RegExpIntrinsic.prototype)
    writeRegExp(out, value)
  } else if (isBoxedPrimitive(value)) {
    writeBoxed(out, value, prototype)
  } else throw UNKNOWN_VALUE
}

export function writeView(out: Encoder, view: ArrayBufferView): void {
  const prototype = prototypeOf(view)
  if (isDataView(view)) writeDataView(out, view, prototype)
  else writeTypedArray(out, view, prototype)
}

function expect(isKnown: boolean): void {
  if (!isKnown) throw UNKNOWN_VALUE
}

/** All entries are taken before the first is written: writing may run a getter that changes the map. */
function writeMap(out: Encoder, map: Map<unknown, unknown>): void {
  out.expectRoom(2 * mapSize(map))
  const entries: unknown[] = []
  mapForEach(map, (value, key) => {
    entries[entries.length] = key
    entries[entries.length] = value
  })
  out.head(tags.MAP, entries.length / 2)
  for (let index = 0; index < entries.length; index++) out.write(entries[index])
}

function writeSet(out: Encoder, set: Set<unknown>): void {
  out.expectRoom(setSize(set))
  const members: unknown[] = []
  setForEach(set, member => {
    members[members.length] = member
  })
  out.head(tags.SET, members.length)
  for (let index = 0; index < members.length; index++) out.write(members[index])
}

/** `lastIndex` does not travel. */
function writeRegExp(out: Encoder, regExp: RegExp): void {
  let flags = ''
  for (const [letter, isSet] of regExpFlags) if (isSet(regExp)) flags += letter
  out.tag(tags.REGEXP)
  out.string(regExpSource(regExp))
  out.string(flags)
}

function writeBoxed(out: Encoder, value: object, prototype: object | null): void {
  out.tag(tags.BOXED)
  if (isNumberObject(value)) {
    expect(prototype === NumberIntrinsic.prototype)
    out.number(numberValue(value))
  } else if (isStringObject(value)) {
    expect(prototype === StringIntrinsic.prototype)
    out.string(stringValue(value))
  } else if (isBooleanObject(value)) {
    expect(prototype === BooleanIntrinsic.prototype)
    out.tag(booleanValue(value) ? tags.TRUE : tags.FALSE)
  } else {
    expect(isBigIntObject(value) && prototype === BigIntIntrinsic.prototype)
    out.bigint(bigIntValue(value))
  }
}

function writeBuffer(out: Encoder, buffer: ArrayBuffer, prototype: object | null): void {
  expect(prototype === ArrayBufferIntrinsic.prototype && !bufferIsResizable(buffer))
  // Throws when the buffer is detached.
  const bytes = new Uint8ArrayIntrinsic(buffer)
  if (out.handsOver(bytes)) return
  if (bytes.length >= LONG_COPY) noteLargeBuffer()
  out.raw(bytes)
}

/** A view stands before its buffer, which may be known already. A Buffer arrives as the Uint8Array that it is. */
function writeTypedArray(out: Encoder, view: object, prototype: object | null): void {
  const name = typedArrayName(view)
  const kind = kindOf(name)
  const View = typedArrays[kind]?.[1]
  expect(View !== undefined)
  expect(prototype === View!.prototype || (name === 'Uint8Array' && prototype === BufferIntrinsic.prototype))
  const buffer = typedArrayBuffer(view)
  expectAttached(buffer)
  out.head(tags.TYPED_ARRAY, kind)
  out.number(typedArrayOffset(view))
  out.number(typedArrayLength(view))
  out.write(buffer)
}

function kindOf(name: string | undefined): number {
  for (let kind = 0; kind < typedArrays.length; kind++) if (typedArrays[kind]![0] === name) return kind
  return -1
}

function writeDataView(out: Encoder, view: DataView, prototype: object | null): void {
  expect(prototype === DataViewIntrinsic.prototype)
  const buffer = dataViewBuffer(view)
  expectAttached(buffer)
  out.tag(tags.DATA_VIEW)
  out.number(dataViewOffset(view))
  out.number(dataViewLength(view))
  out.write(buffer)
}

/**
 * Writing the buffer tells all about it, unless it is written already and a getter has detached it since: then it has no
 * length, and on every version of Node it refuses to be viewed.
 */
function expectAttached(buffer: ArrayBufferLike): void {
  if (isArrayBuffer(buffer) && bufferLength(buffer) === 0) new Uint8ArrayIntrinsic(buffer)
}
