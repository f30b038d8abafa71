// The payload of a task after the host has taken it: a private copy. The caller may change its own object from then on.

import type { TransferItem } from '../../api/call-options.js'
import type { LargeMessage } from '../../shared/codec/format.js'
import type { PayloadForm } from '../../shared/messages/messages.js'

/** Smaller payloads are not the reason why a worker reaches its heap limit. */
const LARGE_BYTES = 2 ** 16

export abstract class TakenPayload {
  /** The caller's object, for queues and load balancers of the program. `undefined` in pools without them. */
  readonly given: unknown

  constructor(given: unknown) {
    this.given = given
  }
}

/** In the format of the lane, but not in the lane: the task waits, or it may run again. */
export class EncodedPayload extends TakenPayload {
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
  /** The bytes hold `[handler, payload]`. */
  readonly isNamed: boolean

  constructor(given: unknown, bytes: Uint8Array, from: number, to: number, isNamed: boolean) {
    super(given)
    this.bytes = bytes
    this.from = from
    this.to = to
    this.isNamed = isNamed
  }
}

/** The only copy is in the lane. The host reads it from there when it takes the task back. */
export class PostedPayload extends TakenPayload {
  readonly from: number
  readonly to: number
  readonly isNamed: boolean

  constructor(given: unknown, from: number, to: number, isNamed: boolean) {
    super(given)
    this.from = from
    this.to = to
    this.isNamed = isNamed
  }
}

/** As bytes that travel in a message. */
export class PackedPayload extends TakenPayload {
  readonly packed: LargeMessage | Uint8Array
  readonly form: PayloadForm

  /** @param packed what the form says */
  constructor(given: unknown, packed: LargeMessage | Uint8Array, form: PayloadForm) {
    super(given)
    this.packed = packed
    this.form = form
  }
}

/** The bytes of a taken payload. `null`: not known. 0 for a primitive. */
export function payloadBytes(content: unknown): number | null {
  if (content instanceof EncodedPayload || content instanceof PostedPayload) return content.to - content.from
  if (!(content instanceof PackedPayload)) return content === Object(content) ? null : 0
  if (content.packed instanceof Uint8Array) return content.packed.length
  const { chunks, buffers } = content.packed
  return [...chunks, ...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** A worker may die while it reads this payload. */
export function isLarge(content: unknown): boolean {
  return (payloadBytes(content) ?? LARGE_BYTES) >= LARGE_BYTES
}

/** A clone, for values that cannot be bytes. Items of the transfer list were moved to the host. */
export class ClonedPayload extends TakenPayload {
  readonly value: unknown
  readonly transferList: readonly TransferItem[]

  constructor(given: unknown, value: unknown, transferList: readonly TransferItem[]) {
    super(given)
    this.value = value
    this.transferList = transferList
  }
}
