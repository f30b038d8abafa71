// A ring of bytes for the answers of one worker. Only the worker writes it, and only the host reads it. A record is
// never split: near the end of the memory, the worker skips the rest. When the ring has no room, the worker sends its
// answer by the port, so a busy host does not stop the worker.
import { load, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import {
  KIND,
  LARGEST_VALUE_BYTES,
  READ,
  RECORD_BYTES,
  RECORD_STARTED_AT,
  RECORD_VALUE,
  RUN_MS,
  SIZE,
  type Span,
  TASK,
  TICKET,
  type WorkerStateLayout,
  WRITTEN,
  wordsOf,
} from './layout.js'

/** The reader must skip the rest of the ring. */
const PASS = 0
/** The record has the value as bytes. */
export const BYTES_VALUE = 1
export const INT_VALUE = 2
/** The record has `[reason, error, path]` as bytes. */
export const FAILURE = 3
export type RecordKind = typeof BYTES_VALUE | typeof INT_VALUE | typeof FAILURE

const WORD = Int32Array.BYTES_PER_ELEMENT
const NEEDED_BYTES = RECORD_BYTES + LARGEST_VALUE_BYTES
/** The host frees this many read bytes while it reads on, so that a worker with large answers finds room meanwhile. */
const MOST_KEPT_BYTES = 256 * 2 ** 10
/** Each skip lowers `#mostUnread` by 1/32, so that the writer remembers rare bursts. */
const FORGETTING = 5

/** The worker's end. */
export class ResultWriter {
  readonly #ring: Span
  readonly #mask: number
  readonly #words: SharedWords
  readonly #floats: Float32Array
  readonly #doubles: Float64Array
  #written = 0
  /** The most unread bytes in the recent past. */
  #mostUnread = 0
  // The last skip: the number of bytes and their end.
  #passed = 0
  #passedTo = 0

  constructor(state: WorkerStateLayout) {
    this.#ring = state.ring
    this.#mask = state.ring.to - state.ring.from - 1
    this.#words = wordsOf(state.memory)
    this.#floats = new Float32Array(state.memory)
    this.#doubles = new Float64Array(state.memory)
  }

  /** The start of `LARGEST_VALUE_BYTES` free bytes for the next value; -1 when the ring has no room. */
  reserve(): number {
    const capacity = this.#mask + 1
    const read = load(this.#words, READ)
    const unread = (this.#written - read) | 0
    this.#noteUnread(((read - this.#passedTo) | 0) < 0 ? unread - this.#passed : unread)
    const offset = this.#written & this.#mask
    const toEnd = capacity - offset
    // An empty ring starts over, so that small answers touch few pages. The skipped bytes stay in use until the host
    // reads on. So the bytes before them must have room for twice the most unread bytes.
    const startsOver = unread === 0 && offset - NEEDED_BYTES >= 2 * this.#mostUnread
    const mustPass = toEnd < NEEDED_BYTES || startsOver
    if (capacity - unread - (mustPass ? toEnd : 0) < NEEDED_BYTES) return -1
    if (mustPass) {
      this.#mostUnread -= this.#mostUnread >> FORGETTING
      const at = (this.#ring.from + offset) / WORD
      this.#words[at + SIZE] = toEnd
      this.#words[at + KIND] = PASS
      this.#written = (this.#written + toEnd) | 0
      this.#passed = toEnd
      this.#passedTo = this.#written
    }
    return this.#ring.from + (this.#written & this.#mask) + RECORD_BYTES
  }

  #noteUnread(bytes: number): void {
    if (bytes > this.#mostUnread) this.#mostUnread = bytes
  }

  /**
   * Publishes a record. Its bytes start at the result of `reserve()`.
   * @param value an int, or the number of bytes of the value
   */
  publish(
    kind: RecordKind,
    ticket: number,
    taskId: number,
    value: number,
    startedAt: number,
    runMs: number,
  ): void {
    const from = this.#ring.from + (this.#written & this.#mask)
    const at = from / WORD
    const bytes = kind === INT_VALUE ? 0 : value
    const size = RECORD_BYTES + Math.ceil(bytes / RECORD_BYTES) * RECORD_BYTES
    const words = this.#words
    words[at + SIZE] = size
    words[at + KIND] = kind
    words[at + TICKET] = ticket
    words[at + TASK] = taskId
    words[at + RECORD_VALUE] = value
    this.#floats[at + RUN_MS] = runMs
    this.#doubles[at / 2 + RECORD_STARTED_AT] = startedAt
    this.#written = (this.#written + size) | 0
    store(words, WRITTEN, this.#written)
  }
}

/** The host's end. When `next()` returns true, the getters return the fields of that record until the next call. */
export class ResultReader {
  readonly #ring: Span
  readonly #mask: number
  readonly #words: SharedWords
  readonly #floats: Float32Array
  readonly #doubles: Float64Array
  #read = 0
  #known = 0
  #freed = 0
  #from = 0

  constructor(state: WorkerStateLayout) {
    this.#ring = state.ring
    this.#mask = state.ring.to - state.ring.from - 1
    this.#words = wordsOf(state.memory)
    this.#floats = new Float32Array(state.memory)
    this.#doubles = new Float64Array(state.memory)
  }

  get isEmpty(): boolean {
    return this.#read === this.#known && load(this.#words, WRITTEN) === this.#known
  }

  next(): boolean {
    if (((this.#read - this.#freed) | 0) >= MOST_KEPT_BYTES) this.free()
    if (this.#read === this.#known) {
      this.#known = load(this.#words, WRITTEN)
      if (this.#read === this.#known) return false
    }
    let at = this.#at()
    if (this.#words[at + KIND] === PASS) {
      this.#read = (this.#read + this.#words[at + SIZE]!) | 0
      at = this.#at()
    }
    this.#from = at
    this.#read = (this.#read + this.#words[at + SIZE]!) | 0
    return true
  }

  /** Gives the memory of read records back to the worker. */
  free(): void {
    if (this.#freed === this.#read) return
    this.#freed = this.#read
    store(this.#words, READ, this.#read)
  }

  get kind(): RecordKind {
    return this.#words[this.#from + KIND] as RecordKind
  }

  get ticket(): number {
    return this.#words[this.#from + TICKET]!
  }

  get taskId(): number {
    return this.#words[this.#from + TASK]!
  }

  get value(): number {
    return this.#words[this.#from + RECORD_VALUE]!
  }

  /** The start of the value's bytes. */
  get valueFrom(): number {
    return this.#from * WORD + RECORD_BYTES
  }

  get runMs(): number {
    return this.#floats[this.#from + RUN_MS]!
  }

  get startedAt(): number {
    return this.#doubles[this.#from / 2 + RECORD_STARTED_AT]!
  }

  /** The first word of the next record. */
  #at(): number {
    return (this.#ring.from + (this.#read & this.#mask)) / WORD
  }
}
