// Encodes a shared value into shared memory, and decodes it. Typed arrays become views on that memory. Everything else is written by
// the serialiser of `node:v8`, so it may be any value that structured clone accepts. Objects that only
// structured clone can copy, such as a `Blob` or a key, travel beside the memory.
//
// In Bun, which has no serialiser with hooks, the memory holds the whole value as `serialize()` writes it.
//
//   memory   bytes of the typed arrays, each at a multiple of 8; the serialised value; its offset (the last 8 bytes)
import { getBuiltinModule, hasSerializer, types } from '../platform/node-modules.js'
import { typedArrays } from './builtins.js'

const ALIGNMENT = 8
const TRAILER_BYTES = 8

type ViewClass = new (memory: ArrayBufferLike, offset: number, length: number) => ArrayBufferView

/** The encoded value names a class by its index in this list. */
const viewClasses = [...typedArrays, ['DataView', DataView]] as unknown as [
  name: string,
  View: ViewClass | undefined,
][]

/**
 * Throws `DataCloneError` for a value with a part that cannot be copied. The caller refuses a `SharedArrayBuffer`.
 * @param places views that stand for objects which travel beside the memory, with their indexes
 */
export function encodeShared(
  value: unknown,
  places: ReadonlyMap<object, number> = new Map(),
): SharedArrayBuffer {
  const { Serializer, serialize } = getBuiltinModule('node:v8')
  if (!hasSerializer()) return sharedCopy(serialize(value))
  const views: { bytes: Uint8Array; offset: number }[] = []
  let viewBytes = 0

  class Writer extends Serializer {
    _writeHostObject(view: object): void {
      if (!ArrayBuffer.isView(view))
        throw refusal(`${Object.prototype.toString.call(view)} could not be cloned.`)
      const place = places.get(view)
      if (place !== undefined) return this.writeUint32(viewClasses.length + place)
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
      views.push({ bytes, offset: viewBytes })
      this.writeUint32(viewClasses.findIndex(([name]) => name === nameOf(view)))
      this.writeDouble(viewBytes)
      this.writeDouble(view.byteLength)
      viewBytes += Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT
    }

    /** Node calls it, without `new`, for a function or a symbol. */
    _getDataCloneError = refusal
  }

  const writer = new Writer() as InstanceType<typeof Writer> & {
    _setTreatArrayBufferViewsAsHostObjects(isHostObject: boolean): void
  }
  writer._setTreatArrayBufferViewsAsHostObjects(true)
  writer.writeHeader()
  writer.writeValue(value)
  const body = writer.releaseBuffer()
  const memory = new SharedArrayBuffer(viewBytes + body.length + TRAILER_BYTES)
  const target = new Uint8Array(memory)
  for (const { bytes, offset } of views) target.set(bytes, offset)
  target.set(body, viewBytes)
  new DataView(memory).setFloat64(memory.byteLength - TRAILER_BYTES, viewBytes)
  return memory
}

function sharedCopy(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length)
  new Uint8Array(memory).set(bytes)
  return memory
}

/** What a worker gets of a shared value. */
export interface SharedContent {
  /** In another process: a copy of the bytes. */
  readonly memory: SharedArrayBuffer | Uint8Array
  /** Objects of the value that travel beside the memory. None in a message to a process. */
  readonly objects: readonly object[]
}

export function decodeShared({ memory: given, objects }: SharedContent): unknown {
  // The bytes of a message between processes may begin anywhere, and views need an aligned begin.
  const memory = given instanceof Uint8Array ? new Uint8Array(given).buffer : given
  const { Deserializer, deserialize } = getBuiltinModule('node:v8')
  if (!hasSerializer()) return deserialize(new Uint8Array(memory))

  class Reader extends Deserializer {
    _readHostObject(): unknown {
      const index = this.readUint32()
      if (index >= viewClasses.length) return objects[index - viewClasses.length]
      const View = viewClasses[index]![1]!
      const offset = this.readDouble()
      const bytes = this.readDouble()
      return new View(
        memory,
        offset,
        bytes / ((View as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1),
      )
    }
  }

  const from = new DataView(memory).getFloat64(memory.byteLength - TRAILER_BYTES)
  const reader = new Reader(new Uint8Array(memory, from, memory.byteLength - TRAILER_BYTES - from))
  reader.readHeader()
  return reader.readValue()
}

class DataCloneError extends Error {
  override readonly name = 'DataCloneError'
}

function refusal(text: string): DataCloneError {
  return new DataCloneError(text)
}

/** A `Buffer` arrives as a `Uint8Array`, as with structured clone. */
function nameOf(view: ArrayBufferView): string {
  return types.isDataView(view) ? 'DataView' : (view as Uint8Array)[Symbol.toStringTag]
}
