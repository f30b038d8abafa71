// The states of a ticket: how far a posted task is. One word in shared memory holds the state and its owner. A move that both
// sides could make is a compare-and-swap, so only one of them succeeds.
//
//   from                to           by       meaning
//   free                offered      host     posted at a position of the queue: any worker may claim it
//   free                addressed    host     sent to one worker by message: only that worker may start it
//   offered             claimed      worker   the worker will run the task
//   claimed             started      worker   the worker has read the payload and calls the handler
//   addressed           started      worker   the worker has the payload and calls the handler
//   offered, addressed  free         host     the host takes the task back: no worker starts it
//   claimed             free         host     the host takes the task back from the worker: the start will fail
//   started             loading      worker   the worker first loads the handler's file
//   loading             started      worker   the file is loaded
//   started             answered     worker   the worker is about to publish the answer
//   started, loading    cancelling   host     the task is cancelled, or the host kills its worker: the handler must not answer
//   addressed           cancelling   host     the task is cancelled, and a worker process may have started it
//   cancelling          ended        worker   the handler has ended; the worker drops the answer
//
// A worker process shares no memory with the host. The host makes its moves when it reads the reports of the process.
//
// `free` is the state of a new ticket, and of a ticket whose task the host took back. Another ticket keeps its last state until
// the host posts it again. The host may do so when it has the answer, when the handler of the cancelled task has ended, or when
// it has killed the worker or the worker has exited.
//
// The owner of `offered` is the position, the owner of `addressed` is the number of the message. The owner of all later states is
// the worker. So the move of a late worker fails, even if the host posted the ticket again. Positions and numbers of messages are
// counted modulo 2^28. So a late move can succeed only if the worker stops between two steps while exactly 2^28 tasks pass.
import { load, replace } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import { addToTimestamp32, fromTimestamp32, toTimestamp32 } from '../platform/timestamp32.js'
import { type LaneLayout, STARTED_AT, STATE, TASK_ID, ticketAt, wordsOf } from './layout.js'

const FREE = 0
const OFFERED = 1
const ADDRESSED = 2
const CLAIMED = 3
const LOADING = 4
const STARTED = 5
const ANSWERED = 6
const CANCELLING = 7
const ENDED = 8

const PHASE_BITS = 4
const PHASE_MASK = 2 ** PHASE_BITS - 1
/** Positions and message numbers wrap around here. */
export const POSITION_MASK = 2 ** 28 - 1

export const ticketPhases = [
  'free',
  'offered',
  'addressed',
  'claimed',
  'loading',
  'started',
  'answered',
  'cancelling',
  'ended',
] as const
export type TicketPhase = (typeof ticketPhases)[number]

/**
 * The moves that a worker makes for a task that came by message. A worker in another process asks the host to make
 * them.
 */
export interface WorkerTickets {
  /** False when the host has taken the task back. */
  startAddressed(ticket: number, messageNumber: number, taskId: number, workerId: number): boolean
  noteStart(ticket: number, now: number): void
  markLoading(ticket: number, workerId: number, isLoading: boolean): void
  /** The task's time stops counting. Returns what `resumeTime` needs. */
  pauseTime(ticket: number, workerId: number): number
  resumeTime(ticket: number, workerId: number, timestamp: number, pausedMs: number): void
  /** Called when a message cancels the task. */
  noteCancelled(ticket: number): void
  isCancelling(ticket: number, workerId: number): boolean
  /** False when the task was cancelled: then the worker gives no answer. */
  answer(ticket: number, workerId: number): boolean
  /** The handler of a cancelled task has ended. False when the host has killed the worker and posted the ticket again. */
  end(ticket: number, workerId: number): boolean
}

export function readState(state: number): { phase: TicketPhase; owner: number } {
  return { phase: ticketPhases[state & PHASE_MASK]!, owner: state >>> PHASE_BITS }
}

export class Tickets implements WorkerTickets {
  readonly #layout: LaneLayout
  readonly #words: LaneWords

  constructor(layout: LaneLayout) {
    this.#layout = layout
    this.#words = wordsOf(layout.memory)
  }

  // Host.

  /** A plain write. The caller writes the tail afterwards, which publishes the ticket. */
  offer(ticket: number, position: number): void {
    this.#words[this.#at(ticket)] = word(OFFERED, position)
  }

  /** A plain write. The caller sends the message afterwards, which publishes the ticket. */
  address(ticket: number, messageNumber: number): void {
    this.#words[this.#at(ticket)] = word(ADDRESSED, messageNumber)
  }

  takeBackOffered(ticket: number, position: number): boolean {
    return replace(this.#words, this.#at(ticket), word(OFFERED, position), FREE)
  }

  takeBackAddressed(ticket: number): boolean {
    const state = load(this.#words, this.#at(ticket))
    return (state & PHASE_MASK) === ADDRESSED && replace(this.#words, this.#at(ticket), state, FREE)
  }

  takeBackClaimed(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), FREE)
  }

  /** True when the worker has started the task and will see that it is cancelled. */
  cancel(ticket: number, workerId: number): boolean {
    const at = this.#at(ticket)
    for (;;) {
      // The worker may move from loading to started between the two steps.
      const state = load(this.#words, at)
      if (state !== word(STARTED, workerId) && state !== word(LOADING, workerId)) return false
      if (replace(this.#words, at, state, word(CANCELLING, workerId))) return true
    }
  }

  /** For a worker process: it may have started the task. The caller must send it a message. */
  cancelAddressed(ticket: number, workerId: number): boolean {
    const state = load(this.#words, this.#at(ticket))
    return (
      (state & PHASE_MASK) === ADDRESSED &&
      replace(this.#words, this.#at(ticket), state, word(CANCELLING, workerId))
    )
  }

  /** When the worker started the task; `null` while the task's time does not count. */
  startedAt(ticket: number, now: number): number | null {
    return fromTimestamp32(this.#words[ticketAt(this.#layout, ticket) + STARTED_AT]!, now)
  }

  phaseOf(ticket: number): TicketPhase {
    return ticketPhases[load(this.#words, this.#at(ticket)) & PHASE_MASK]!
  }

  /** The worker that claimed or started the task, even if it has answered since; 0 when no worker did. */
  holderOf(ticket: number): number {
    const state = load(this.#words, this.#at(ticket))
    return (state & PHASE_MASK) >= CLAIMED ? state >>> PHASE_BITS : 0
  }

  /** A worker process reports that it has started the task. The host may have cancelled the task meanwhile. */
  startReported(ticket: number, taskId: number, workerId: number, now: number): void {
    const at = ticketAt(this.#layout, ticket)
    if (this.#words[at + TASK_ID] !== taskId) return
    this.noteStart(ticket, now)
    const state = load(this.#words, at + STATE)
    if ((state & PHASE_MASK) === ADDRESSED) replace(this.#words, at + STATE, state, word(STARTED, workerId))
  }

  // Host and worker.

  isOffered(ticket: number, position: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(OFFERED, position)
  }

  // Worker.

  claim(ticket: number, position: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(OFFERED, position), word(CLAIMED, workerId))
  }

  /** False when the host has taken the task back. */
  isClaimedBy(ticket: number, workerId: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(CLAIMED, workerId)
  }

  start(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), word(STARTED, workerId))
  }

  startAddressed(ticket: number, messageNumber: number, _taskId: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(ADDRESSED, messageNumber), word(STARTED, workerId))
  }

  markLoading(ticket: number, workerId: number, isLoading: boolean): void {
    const [before, after] = isLoading ? [STARTED, LOADING] : [LOADING, STARTED]
    replace(this.#words, this.#at(ticket), word(before, workerId), word(after, workerId))
  }

  /** Called after the start. The host reads the time. */
  noteStart(ticket: number, now: number): void {
    this.#words[ticketAt(this.#layout, ticket) + STARTED_AT] = toTimestamp32(now)
  }

  pauseTime(ticket: number, workerId: number): number {
    const timestamp = this.#words[ticketAt(this.#layout, ticket) + STARTED_AT]!
    this.#setStart(ticket, workerId, 0)
    return timestamp
  }

  resumeTime(ticket: number, workerId: number, timestamp: number, pausedMs: number): void {
    this.#setStart(ticket, workerId, addToTimestamp32(timestamp, pausedMs))
  }

  /** Does nothing when the host has killed the worker: the ticket may belong to another task. */
  #setStart(ticket: number, workerId: number, timestamp: number): void {
    if (load(this.#words, this.#at(ticket)) !== word(STARTED, workerId)) return
    this.#words[ticketAt(this.#layout, ticket) + STARTED_AT] = timestamp
  }

  /** Does nothing: the state of the ticket says that the task is cancelled. */
  noteCancelled(): void {}

  isCancelling(ticket: number, workerId: number): boolean {
    return load(this.#words, this.#at(ticket)) === word(CANCELLING, workerId)
  }

  answer(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(STARTED, workerId), word(ANSWERED, workerId))
  }

  end(ticket: number, workerId: number): boolean {
    return replace(this.#words, this.#at(ticket), word(CANCELLING, workerId), word(ENDED, workerId))
  }

  #at(ticket: number): number {
    return ticketAt(this.#layout, ticket) + STATE
  }
}

function word(phase: number, owner: number): number {
  return (owner << PHASE_BITS) | phase
}
