// Where payloads lie until a worker has read them. The host takes room in order and gets it back in order; one payload that
// waits long keeps the room behind it, which is why a task waits in the host's queue when there is none.
import { LARGEST_VALUE_BYTES, type Span } from './layout.js'

const LINE_BYTES = 64
const FEW = 64

/** Who knows which payloads were read. */
export interface Readers {
  /** True while a worker may still read it. */
  isUnread(ticket: number, position: number): boolean
  /** True when it is known here that nobody reads it any more. */
  isReleased(ticket: number, position: number): boolean
}

export class PayloadArena {
  readonly #span: Span
  readonly #readers: Readers
  /** Where the next payload would begin. */
  #next: number
  // The payloads that are not known to be read, oldest first, in a ring that grows: ticket, position, beginning.
  #taken = new Int32Array(3 * FEW)
  #first = 0
  #count = 0

  constructor(span: Span, readers: Readers) {
    this.#span = span
    this.#readers = readers
    this.#next = span.from
  }

  /** Where a value of up to `LARGEST_VALUE_BYTES` may be written; -1 when there is no such room now. */
  reserve(): number {
    // Asking what was read costs a look at a word that a worker has just written; mostly what is known here will do.
    this.#forget((ticket, position) => this.#readers.isReleased(ticket, position))
    const at = this.#find()
    if (at >= 0) return at
    this.#forget((ticket, position) => !this.#readers.isUnread(ticket, position))
    return this.#find()
  }

  #find(): number {
    const { from, to } = this.#span
    if (this.#count === 0) {
      this.#next = from
      return from
    }
    const oldest = this.#taken[3 * this.#first + 2]!
    if (this.#next > oldest) {
      // Early memory is used again as soon as it can be, so that what is small stays in little memory.
      if (oldest - from < LARGEST_VALUE_BYTES) return to - this.#next < LARGEST_VALUE_BYTES ? -1 : this.#next
      this.#next = from
    }
    return oldest - this.#next >= LARGEST_VALUE_BYTES ? this.#next : -1
  }

  /** The value ends at `end`, and belongs to a ticket just posted. */
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
