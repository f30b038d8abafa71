// Allocates the memory of payloads until a worker has read them. The host allocates in order and frees in order, so one
// unread payload keeps all later memory. Without free memory the host keeps the task in its own queue.
import { LARGEST_PAYLOAD_BYTES, LARGEST_VALUE_BYTES, type Span } from './layout.js'

const LINE_BYTES = 64
const FEW = 64

/** Tells which payloads were read. */
export interface Readers {
  /** True while a worker may still read the payload. Reads shared memory. */
  isUnread(ticket: number, position: number): boolean
  /** True when the host has released the ticket. Reads no shared memory, so it can be late. */
  isReleased(ticket: number, position: number): boolean
}

export class PayloadArena {
  readonly #span: Span
  readonly #readers: Readers
  /** The start of the next payload. */
  #next: number
  /** The end of the memory that `reserve()` found. */
  reservedTo = 0
  // The payloads that may be unread, oldest first, in a ring that grows. Each has three words: ticket, position, start.
  #taken = new Int32Array(3 * FEW)
  #first = 0
  #count = 0

  constructor(span: Span, readers: Readers) {
    this.#span = span
    this.#readers = readers
    this.#next = span.from
  }

  /**
   * The start of at least `LARGEST_VALUE_BYTES` free bytes; -1 when no such memory is free now. More bytes may be free, up to `reservedTo`:
   * larger payloads cross through shared memory as long as it has room.
   */
  reserve(): number {
    // Reading a word that a worker has just written is slow. The host's own knowledge is usually enough.
    this.#forget((ticket, position) => this.#readers.isReleased(ticket, position))
    const at = this.#find()
    if (at >= 0) return at
    this.#forget((ticket, position) => !this.#readers.isUnread(ticket, position))
    return this.#find()
  }

  #find(): number {
    const { from, to } = this.#span
    let end = to
    if (this.#count === 0) {
      this.#next = from
    } else {
      const oldest = this.#taken[3 * this.#first + 2]!
      // Reuses the first memory as soon as it is free, so that small payloads touch few pages.
      if (this.#next > oldest && oldest - from >= LARGEST_VALUE_BYTES) this.#next = from
      if (this.#next <= oldest) end = oldest
    }
    if (end - this.#next < LARGEST_VALUE_BYTES) return -1
    this.reservedTo = Math.min(end, this.#next + LARGEST_PAYLOAD_BYTES)
    return this.#next
  }

  /** Keeps the reserved memory up to `end` for a ticket that was just posted. */
  take(ticket: number, position: number, end: number): void {
    const capacity = this.#taken.length / 3
    if (this.#count === capacity) this.#grow(capacity)
    const place = 3 * ((this.#first + this.#count++) % (this.#taken.length / 3))
    this.#taken[place] = ticket
    this.#taken[place + 1] = position
    this.#taken[place + 2] = this.#next
    this.#next = Math.ceil(end / LINE_BYTES) * LINE_BYTES
  }

  #forget(isDone: (ticket: number, position: number) => boolean): void {
    while (this.#count > 0) {
      const place = 3 * this.#first
      if (!isDone(this.#taken[place]!, this.#taken[place + 1]!)) return
      this.#first = (this.#first + 1) % (this.#taken.length / 3)
      this.#count--
    }
  }

  #grow(capacity: number): void {
    const grown = new Int32Array(6 * capacity)
    for (let index = 0; index < this.#count; index++) {
      const place = 3 * ((this.#first + index) % capacity)
      grown.set(this.#taken.subarray(place, place + 3), 3 * index)
    }
    this.#taken = grown
    this.#first = 0
  }
}
