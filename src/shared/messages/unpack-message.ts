// Reads the bytes that `packMessage()` wrote.
import { getBuiltinModule, hasSerializer } from '../platform/node-modules.js'

/** Created with the first message, so that programs without worker processes do not load `node:v8`. */
let read: ((bytes: Uint8Array) => unknown) | undefined

/** Throws when the bytes cannot be read, for example because they are nested too deeply. */
export function unpackMessage(bytes: Uint8Array): unknown {
  read ??= makeReader()
  return read(bytes)
}

function makeReader(): (bytes: Uint8Array) => unknown {
  const { Deserializer, deserialize } = getBuiltinModule('node:v8')
  // Bun has only the function.
  if (!hasSerializer()) return deserialize

  class ValueReader extends Deserializer {
    _readHostObject(): unknown {
      return this.readValue()
    }
  }

  return bytes => {
    const reader = new ValueReader(bytes)
    reader.readHeader()
    return reader.readValue()
  }
}
