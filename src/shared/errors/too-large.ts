// What is larger than its road: how large, and how much that road takes, as fields that cross to the other side.
import { types } from '../platform/node-modules.js'

/** Structured clone writes the length of a buffer in 32 bits. */
export const LARGEST_CLONED_BYTES = 2 ** 32 - 1

export interface TooLarge extends RangeError {
  bytes: number
  limitBytes: number
}

export function tooLarge(bytes: number, limitBytes: number): TooLarge {
  const error = new RangeError(`it takes ${bytes} bytes, and at most ${limitBytes} can be sent at once`)
  return Object.assign(error, { bytes, limitBytes })
}

/** Also of one that came from the other side. */
export function isTooLarge(value: unknown): value is TooLarge {
  return types.isNativeError(value) && typeof (value as Partial<TooLarge>).limitBytes === 'number'
}

/** A view is sent with the whole of its buffer. */
export function bufferBytes(member: unknown): number {
  const buffer = ArrayBuffer.isView(member) ? member.buffer : member
  return types.isArrayBuffer(buffer) ? buffer.byteLength : 0
}
