// Writes, transfers and decodes large messages as workers and hosts do, in steps of any size.
import { decodeLarge } from '../../build/unit/src/shared/codec/decoder.js'
import { transferList } from '../../build/unit/src/shared/codec/format.js'
import { LargeDraft } from '../../build/unit/src/shared/codec/writer.js'

/** So small that values of a few bytes have chunks, large parts and separate buffers. */
export const tiny = { chunkBytes: 24, largeBytes: 1, separateBytes: 8 }

/** Returns `null` when the encoder declines the value. */
export function writeLarge(writer, value, sizes = tiny) {
  return writer.encodeLarge(value, new LargeDraft(sizes))
}

/** Transfers the memory of the message. Returns the message as it arrives. */
export function send(message) {
  return structuredClone(message, { transfer: transferList(message) })
}

/** Decodes the message in steps of `stepBytes`. */
export function readLarge(message, shapes, stepBytes = 1) {
  const reading = decodeLarge(message, shapes, stepBytes)
  for (let steps = 1; ; steps++) {
    const { done, value } = reading.next()
    if (done) return { value, steps }
  }
}

export { decodeLarge }
