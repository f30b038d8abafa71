// Makes the objects that are neither plain nor arrays.

import { noteLargeBuffer } from '../platform/allocator.js'
import type { Decoder } from './decoder.js'
import {
  blankBytes,
  bufferLength,
  copyLong,
  DataViewIntrinsic,
  floor,
  isArrayBuffer,
  LONG_COPY,
  MapIntrinsic,
  mapSet,
  ObjectIntrinsic,
  RegExpIntrinsic,
  SetIntrinsic,
  setAdd,
  typedArrayBuffer,
  typedArrays,
  Uint8ArrayIntrinsic,
} from './intrinsics.js'

export function readMap(from: Decoder): Map<unknown, unknown> {
  const map = new MapIntrinsic<unknown, unknown>()
  from.begins(map)
  for (let left = from.count(2); left > 0; left--) {
    const key = from.read()
    mapSet(map, key, from.read())
  }
  return map
}

export function readSet(from: Decoder): Set<unknown> {
  const set = new SetIntrinsic<unknown>()
  from.begins(set)
  for (let left = from.count(1); left > 0; left--) setAdd(set, from.read())
  return set
}

export function readRegExp(from: Decoder): RegExp {
  const source = from.read()
  const flags = from.read()
  if (typeof source !== 'string' || typeof flags !== 'string') from.damaged('a regular expression')
  try {
    const regExp = new RegExpIntrinsic(source, flags)
    from.begins(regExp)
    return regExp
  } catch {
    return from.damaged('no regular expression')
  }
}

export function readBoxed(from: Decoder): object {
  const value = from.read()
  switch (typeof value) {
    case 'number':
    case 'string':
    case 'boolean':
    case 'bigint': {
      const boxed = ObjectIntrinsic(value)
      from.begins(boxed)
      return boxed
    }
    default:
      return from.damaged('a box without a primitive')
  }
}

export function readBuffer(from: Decoder): ArrayBuffer {
  const length = from.count(1)
  return from.begins(copyOf(from.raw(length)))
}

/** In memory that the runtime does not fill with zeros first, as it does with that of a new ArrayBuffer. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  const { length } = bytes
  if (length < LONG_COPY) return new Uint8ArrayIntrinsic(bytes).buffer
  noteLargeBuffer()
  return typedArrayBuffer(copyLong(blankBytes(length), bytes, 0, length)) as ArrayBuffer
}

export function readTypedArray(from: Decoder): ArrayBufferView {
  const View = typedArrays[from.uint32()]?.[1]
  if (View === undefined) return from.damaged('a typed array of no kind')
  const number = from.reserves()
  const offset = from.read()
  const length = from.read()
  const buffer = from.read()
  const size = View.BYTES_PER_ELEMENT
  if (!isRange(buffer, offset, length, size)) return from.damaged('a typed array beyond its buffer')
  const view = new View(buffer as ArrayBuffer, offset as number, length as number)
  from.becomes(number, view)
  return view
}

export function readDataView(from: Decoder): DataView {
  const number = from.reserves()
  const offset = from.read()
  const length = from.read()
  const buffer = from.read()
  if (!isRange(buffer, offset, length, 1)) return from.damaged('a view beyond its buffer')
  const view = new DataViewIntrinsic(buffer as ArrayBuffer, offset as number, length as number)
  from.becomes(number, view)
  return view
}

function isRange(buffer: unknown, offset: unknown, length: unknown, elementSize: number): boolean {
  if (!isArrayBuffer(buffer) || !isCount(offset) || !isCount(length)) return false
  return offset % elementSize === 0 && offset + length * elementSize <= bufferLength(buffer)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value === floor(value)
}
