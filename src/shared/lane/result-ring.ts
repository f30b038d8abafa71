// A ring of bytes for the answers of one worker. Only the worker writes it, and only the host reads it. A record is
// never split: near the end of the memory, the worker skips the rest. When the ring has no room, the worker sends its
// answer by the port, so a busy host does not stop the worker.
//
// A handler can damage the ring, for example with native code. So each head has a checksum, and the reader checks the head
// before it uses it. After the first damage it reads nothing more.
import { load, store } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import {
  CHECK,
  KIND,
  LARGEST_VALUE_BYTES,
  READ,
  RECORD_BYTES,
  RECORD_STARTED_AT,
  RECORD_VALUE,
  RUN_MS,
  type Span,
  TASK,
  TICKET,
  type WorkerStateLayout,
  WRITTEN,
  wordsOf,
} from './layout.js'

/** The reader must skip the rest of the ring. Not 0, because unwritten memory has zeros. */
const PASS = 4
/** The record has the value as bytes. */
export const BYTES_VALUE = 1
export const INT_VALUE = 2
/** The record has `[reason, error, path]` as bytes. */
export const FAILURE = 3
export type RecordKind = typeof BYTES_VALUE | typeof INT_VALUE | typeof FAILURE
/** Added to the kind: the record answers the next item of a pack. */
const ITEM = 8

const WORD = Int32Array.BYTES_PER_ELEMENT
/** An odd number, so that a product keeps all differences. */
const MIX = 0x9e3779b1
/** No time of the host's clock is as late as this. */
const FAR_FUTURE = 1e15
const NEEDED_BYTES = RECORD_BYTES + LARGEST_VALUE_BYTES
/** The host frees this many read bytes while it reads on, so that a worker with large answers finds room meanwhile. */
const MOST_KEPT_BYTES = 256 * 2 ** 10
/** Each skip lowers `#mostUnread` by 1/32, so that the writer remembers rare bursts. */
const FORGETTING = 5

/** The worker's end. */
export class ResultWriter {
  readonly #ring: Span
  readonly #mask: number
  readonly #words: LaneWords
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
      this.#words[at + CHECK] = checkOf(this.#written, PASS, 0, 0, 0)
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
    isItem = false,
  ): void {
    const from = this.#ring.from + (this.#written & this.#mask)
    const at = from / WORD
    const bytes = kind === INT_VALUE ? 0 : value
    const size = sizeOf(bytes)
    const words = this.#words
    const word = isItem ? kind | ITEM : kind
    words[at + CHECK] = checkOf(this.#written, word, ticket, taskId, value)
    words[at + KIND] = word
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
  readonly #words: LaneWords
  readonly #floats: Float32Array
  readonly #doubles: Float64Array
  #read = 0
  #known = 0
  #freed = 0
  #from = 0
  #kind: RecordKind = INT_VALUE
  #isItem = false
  #ticket = 0
  #taskId = 0
  #value = 0
  /** What is wrong with the ring; `null` while nothing is. */
  damage: string | null = null

  constructor(state: WorkerStateLayout) {
    this.#ring = state.ring
    this.#mask = state.ring.to - state.ring.from - 1
    this.#words = wordsOf(state.memory)
    this.#floats = new Float32Array(state.memory)
    this.#doubles = new Float64Array(state.memory)
  }

  /** Also true for a damaged ring. */
  get isEmpty(): boolean {
    if (this.damage !== null) return true
    return this.#read === this.#known && load(this.#words, WRITTEN) === this.#known
  }

  /** False at the end of the ring, and when the ring is damaged. */
  next(): boolean {
    if (((this.#read - this.#freed) | 0) >= MOST_KEPT_BYTES) this.free()
    if (this.#read === this.#known && !this.#hasMore()) return false
    const words = this.#words
    const mask = this.#mask
    let at = this.#at()
    if (words[at + KIND] === PASS) {
      if (words[at + CHECK] !== checkOf(this.#read, PASS, 0, 0, 0)) return this.refuse('a wrong checksum')
      const toEnd = mask + 1 - (this.#read & mask)
      if (toEnd >= this.#unread) return this.refuse('no record follows')
      this.#read = (this.#read + toEnd) | 0
      at = this.#at()
    }
    // The worker can still write these words. So each of them is read once.
    const word = words[at + KIND]!
    const ticket = words[at + TICKET]!
    const taskId = words[at + TASK]!
    const value = words[at + RECORD_VALUE]!
    if (words[at + CHECK] !== checkOf(this.#read, word, ticket, taskId, value))
      return this.refuse('a wrong checksum')
    const kind = word & ~ITEM
    const bytes = kind === INT_VALUE ? 0 : value
    const size = sizeOf(bytes)
    if (kind < BYTES_VALUE || kind > FAILURE || bytes < 0 || bytes > LARGEST_VALUE_BYTES)
      return this.refuse('a record of a wrong kind or size')
    if (size > this.#unread || size > mask + 1 - (this.#read & mask))
      return this.refuse('a record beyond the end')
    if (!(this.#floats[at + RUN_MS]! >= 0 && this.#doubles[at / 2 + RECORD_STARTED_AT]! < FAR_FUTURE))
      return this.refuse('a wrong time')
    this.#kind = kind as RecordKind
    this.#isItem = word !== kind
    this.#ticket = ticket
    this.#taskId = taskId
    this.#value = value
    this.#from = at
    this.#read = (this.#read + size) | 0
    return true
  }

  /** Reads how far the worker has written. */
  #hasMore(): boolean {
    if (this.damage !== null) return false
    this.#known = load(this.#words, WRITTEN)
    const unread = this.#unread
    if (unread === 0) return false
    // The bytes of a record are a multiple of its head. So is the number of unread bytes.
    if (unread < 0 || unread > this.#mask + 1 || unread % RECORD_BYTES !== 0)
      return this.refuse('its counter is wrong')
    return true
  }

  get #unread(): number {
    return (this.#known - this.#read) | 0
  }

  /** From now on the ring counts as damaged. The reader reads nothing more. Returns false. */
  refuse(damage: string): false {
    this.damage ??= damage
    this.#known = this.#read
    return false
  }

  /** Gives the memory of read records back to the worker. */
  free(): void {
    if (this.#freed === this.#read) return
    this.#freed = this.#read
    store(this.#words, READ, this.#read)
  }

  get kind(): RecordKind {
    return this.#kind
  }

  get isItem(): boolean {
    return this.#isItem
  }

  get ticket(): number {
    return this.#ticket
  }

  get taskId(): number {
    return this.#taskId
  }

  get value(): number {
    return this.#value
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

/** Differs for any other value of one of these words. The position tells a record of an earlier lap apart. */
function checkOf(position: number, kind: number, ticket: number, taskId: number, value: number): number {
  const withTicket = Math.imul(position ^ kind, MIX) ^ ticket
  const withTask = Math.imul(withTicket, MIX) ^ taskId
  return Math.imul(Math.imul(withTask, MIX) ^ value, MIX)
}

/** The size of a record whose value has this many bytes. */
function sizeOf(bytes: number): number {
  return RECORD_BYTES + Math.ceil(bytes / RECORD_BYTES) * RECORD_BYTES
}
