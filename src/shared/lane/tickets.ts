// The life of a ticket: a task's place in the lane. One word tells it all - what may happen next, and who has it - and
// every move by two sides is a compare-and-swap, so two of them exclude each other.
//
//   FREE       -> OFFERED    host      the task is posted at a position of the queue
//   OFFERED    -> CLAIMED    worker    it will run the task
//   OFFERED    -> FREE       host      taken back: no worker will
//   CLAIMED    -> BEGUN      worker    it has read the payload and calls the handler
//   CLAIMED    -> FREE       host      taken back from a worker that is given up
//   BEGUN     <-> LOADING    worker    it loads the handler's file first
//   BEGUN      -> ANSWERED   worker    the answer is about to be published
//   BEGUN      -> CONDEMNED  host      cancelled: nobody wants the answer, the handler is to stop; LOADING the same
//   CONDEMNED  -> ENDED      worker    the handler has ended, whatever it answered; the worker says so
//
// An answered or ended ticket, or one of a worker that is no more, is the host's to offer again; nobody else moves it from
// there.
//
// An offer carries its position, what follows carries the worker: a claim that comes late, when the ticket is on offer
// again elsewhere, finds another word. Positions are counted modulo 2^28; to be fooled a worker would have to stop between
// two steps while exactly so many tasks go by.
import { load, replace } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import { addToTimestamp32, fromTimestamp32, toTimestamp32 } from '../platform/timestamp32.js'
import { BEGUN_AT, type LaneLayout, ORDINAL, STATE, ticketAt, wordsOf } from './layout.js'

const FREE = 0
const OFFERED = 1
const CLAIMED = 2
const LOADING = 3
const BEGUN = 4
const ANSWERED = 5
const CONDEMNED = 6
const ENDED = 7

const PHASE_BITS = 3
const PHASE_MASK = 2 ** PHASE_BITS - 1
export const POSITION_MASK = 2 ** 28 - 1

export const ticketPhases = [
  'free',
  'offered',
  'claimed',
  'loading',
  'begun',
  'answered',
  'condemned',
  'ended',
] as const
export type TicketPhase = (typeof ticketPhases)[number]

export class Tickets {
  readonly #layout: LaneLayout
  readonly #words: SharedWords

  constructor(layout: LaneLayout) {
    this.#layout = layout
    this.#words = wordsOf(layout.memory)
  }

  // Host.

  /** A plain write: what publishes it is the tail, after it. */
  offer(ticket: number, position: number): void {
    this.#words[this.#at(ticket)] = word(OFFERED, position)
  }

  takeBack(ticket: number, position: number): boolean {
    return replace(this.#words, this.#at(ticket), word(OFFERED, position), FREE)
  }

  takeBackFrom(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), FREE)
  }

  /** True when the worker runs the task and will find, when it looks or is done, that nobody wants to know. */
  condemn(ticket: number, workerId: number): boolean {
    const at = this.#at(ticket)
    for (;;) {
      // Its loading may end in between.
      const state = load(this.#words, at)
      if (state !== word(BEGUN, workerId) && state !== word(LOADING, workerId)) return false
      if (replace(this.#words, at, state, word(CONDEMNED, workerId))) return true
    }
  }

  /** When its worker began it; `null` while its time does not count. Only of a task whose time is limited. */
  begunAt(ticket: number, now: number): number | null {
    return fromTimestamp32(this.#words[ticketAt(this.#layout, ticket) + BEGUN_AT]!, now)
  }

  phaseOf(ticket: number): TicketPhase {
    return ticketPhases[load(this.#words, this.#at(ticket)) & PHASE_MASK]!
  }

  /** The worker that has it; 0 while nobody has. */
  holderOf(ticket: number): number {
    const state = load(this.#words, this.#at(ticket))
    return (state & PHASE_MASK) >= CLAIMED ? state >>> PHASE_BITS : 0
  }

  /** Which of the answers that its worker sent over the port. */
  ordinalOf(ticket: number): number {
    return this.#words[ticketAt(this.#layout, ticket) + ORDINAL]!
  }

  // Both.

  isOffered(ticket: number, position: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(OFFERED, position)
  }

  // Worker.

  claim(ticket: number, position: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(OFFERED, position), word(CLAIMED, workerId))
  }

  /** The host has not taken it back. */
  isClaimedBy(ticket: number, workerId: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(CLAIMED, workerId)
  }

  begin(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), word(BEGUN, workerId))
  }

  markLoading(ticket: number, workerId: number, isLoading: boolean): void {
    const [before, after] = isLoading ? [BEGUN, LOADING] : [LOADING, BEGUN]
    replace(this.#words, this.#at(ticket), word(before, workerId), word(after, workerId))
  }

  /** After `begin`, for the host to read. */
  noteBegin(ticket: number, now: number): void {
    this.#words[ticketAt(this.#layout, ticket) + BEGUN_AT] = toTimestamp32(now)
  }

  /** The task's time does not count. Returns what `resumeTime` needs. */
  holdTime(ticket: number, workerId: number): number {
    const stamp = this.#words[ticketAt(this.#layout, ticket) + BEGUN_AT]!
    this.#setBegin(ticket, workerId, 0)
    return stamp
  }

  resumeTime(ticket: number, workerId: number, stamp: number, heldMs: number): void {
    this.#setBegin(ticket, workerId, addToTimestamp32(stamp, heldMs))
  }

  /** Unless the host has given the worker up, and the ticket to another task. */
  #setBegin(ticket: number, workerId: number, stamp: number): void {
    if (load(this.#words, this.#at(ticket)) !== word(BEGUN, workerId)) return
    this.#words[ticketAt(this.#layout, ticket) + BEGUN_AT] = stamp
  }

  isCondemned(ticket: number, workerId: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(CONDEMNED, workerId)
  }

  /** The handler of a cancelled task has ended. False when the host has given the worker up. */
  end(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CONDEMNED, workerId), word(ENDED, workerId))
  }

  /** False when the task was cancelled meanwhile: then nothing is to be answered. */
  answer(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(BEGUN, workerId), word(ANSWERED, workerId))
  }

  /** Before the answer is sent over the port. */
  setOrdinal(ticket: number, ordinal: number): void {
    this.#words[ticketAt(this.#layout, ticket) + ORDINAL] = ordinal
  }

  #at(ticket: number): number {
    return ticketAt(this.#layout, ticket) + STATE
  }
}

function word(phase: number, owner: number): number {
  return (owner << PHASE_BITS) | phase
}
