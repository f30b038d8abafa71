// The inbox of one worker: tickets that the host offers to this worker alone, because it ran the key of their tasks before. A ticket in
// an inbox is offered, as in the lane queue: the worker claims it, and the host can take it back. Its entry then stays until the worker
// passes it.
import { load, store } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import { DROPPED, INBOX_ENTRIES, INBOX_FROM, TAKEN, type WorkerStateLayout, wordsOf } from './layout.js'

/** The host's end. */
export class InboxWriter {
  readonly #words: LaneWords
  readonly workerId: number
  #dropped = 0

  constructor(layout: WorkerStateLayout, workerId: number) {
    this.workerId = workerId
    this.#words = wordsOf(layout.memory)
  }

  /** Entries that the worker has not read. The host may have taken some of their tasks back. */
  get size(): number {
    return (this.#dropped - load(this.#words, TAKEN)) | 0
  }

  get hasRoom(): boolean {
    return this.size < INBOX_ENTRIES
  }

  /** Call it only with `hasRoom`. The caller has offered the ticket at the position, and raises `SENT` afterwards. */
  drop(ticket: number, position: number): void {
    const at = placeOf(this.#dropped)
    this.#words[at] = ticket
    this.#words[at + 1] = position
    this.#dropped = (this.#dropped + 1) | 0
    store(this.#words, DROPPED, this.#dropped)
  }
}

/** The worker's end. */
export class InboxReader {
  readonly #words: LaneWords
  #taken = 0

  constructor(layout: WorkerStateLayout) {
    this.#words = wordsOf(layout.memory)
  }

  get isEmpty(): boolean {
    return load(this.#words, DROPPED) === this.#taken
  }

  /** The ticket of the next entry. Call it only when the inbox is not empty. */
  get ticket(): number {
    return this.#words[placeOf(this.#taken)]!
  }

  /** Where the lane queue ended when the host offered the ticket. */
  get position(): number {
    return this.#words[placeOf(this.#taken) + 1]!
  }

  /** Passes the next entry. The host may write over it. */
  pass(): void {
    this.#taken = (this.#taken + 1) | 0
    store(this.#words, TAKEN, this.#taken)
  }
}

function placeOf(entry: number): number {
  return INBOX_FROM + 2 * (entry & (INBOX_ENTRIES - 1))
}
