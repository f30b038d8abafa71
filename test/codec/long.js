// Long messages as a worker sends and a host reads them, in pieces of any size.
import { LongDecoder } from '../../build/unit/src/shared/codec/long-decoder.js'
import { LongDraft } from '../../build/unit/src/shared/codec/long-draft.js'
import { memoryOf } from '../../build/unit/src/shared/codec/long-message.js'

/** So small that values of a few bytes have all that large ones have: chunks, big parts, buffers beside them. */
export const tiny = { chunkBytes: 24, bigBytes: 1, longTextBytes: 1, handedBytes: 8 }

/** `null`: declined. */
export function writeLong(writer, value, sizes = tiny) {
  return writer.encodeLong(value, new LongDraft(sizes))
}

/** As it arrives: what it is made of is gone where it came from. */
export function send(message) {
  return structuredClone(message, { transfer: memoryOf(message) })
}

/** Stops as often as it can: after each step of so many bytes. */
export function readLong(message, shapes, stepBytes = 1) {
  const decoder = new LongDecoder(message, shapes, stepBytes)
  let steps = 1
  while (!decoder.readOn(() => false)) steps++
  return { value: decoder.value, steps }
}
