// Large messages as a worker sends and a host reads them, in steps of any size.
import { decodeLarge } from '../../build/unit/src/shared/codec/decoder.js'
import { transferList } from '../../build/unit/src/shared/codec/format.js'
import { LargeDraft } from '../../build/unit/src/shared/codec/writer.js'

/** So small that values of a few bytes have chunks, large parts and separate buffers. */
export const tiny = { chunkBytes: 24, largeBytes: 1, separateBytes: 8 }

/** `null`: declined. */
export function writeLarge(writer, value, sizes = tiny) {
  return writer.encodeLarge(value, new LargeDraft(sizes))
}

/** The message as it arrives: its memory is transferred. */
export function send(message) {
  return structuredClone(message, { transfer: transferList(message) })
}

/** Reads in steps of so many bytes. */
export function readLarge(message, shapes, stepBytes = 1) {
  const reading = decodeLarge(message, shapes, stepBytes)
  for (let steps = 1; ; steps++) {
    const { done, value } = reading.next()
    if (done) return { value, steps }
  }
}

export { decodeLarge }
