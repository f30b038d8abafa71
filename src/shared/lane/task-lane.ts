// The queue that workers pull from: the host posts tickets at its end, workers claim them at its beginning, in order.
import { load, replace, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import type { WorkerBell } from './doorbell.js'
import {
  ADDRESSEE,
  BEGUN_AT,
  FLAGS,
  FROM,
  HANDLER_ID,
  HEAD,
  INT,
  type LaneLayout,
  ORDINAL,
  TAIL,
  TASK_ID,
  TO,
  ticketAt,
  wordsOf,
} from './layout.js'
import { POSITION_MASK, Tickets } from './tickets.js'

/** The payload is an int, in the ticket itself. */
export const IS_INT = 1
/** The payload travels by the port, to whoever claims the ticket. */
export const BY_PORT = 2
/** Only a worker that holds nothing may claim it. */
export const ALONE = 4
/** The payload is `[filename, name, payload]`: not every worker knows the handler's number. */
export const NAMED = 8
/** Its time is limited: the worker writes down when it begins. */
export const TIMED = 16

export interface Posting {
  taskId: number
  handlerId: number
  flags: number
  from: number
  to: number
  int: number
  /** The only worker that may claim it; 0: any. */
  addressee: number
}

/** The host's end. */
export class TaskLane {
  readonly layout: LaneLayout
  readonly tickets: Tickets
  readonly #words: SharedWords
  readonly #free: number[] = []
  readonly #positionOf: Int32Array
  /** Positions given up before a worker passed them, each 1, and how many. */
  readonly #left: Uint8Array
  #leftCount = 0
  #tail: number
  /** The head as this side saw it last. */
  #head: number

  constructor(layout: LaneLayout) {
    this.layout = layout
    this.tickets = new Tickets(layout)
    this.#words = wordsOf(layout.memory)
    for (let ticket = layout.tickets - 1; ticket >= 0; ticket--) this.#free.push(ticket)
    this.#positionOf = new Int32Array(layout.tickets).fill(-1)
    this.#left = new Uint8Array(layout.positions)
    // A new lane is empty, wherever its positions begin.
    this.#tail = load(this.#words, TAIL)
    this.#head = this.#tail
  }

  /** Tickets on offer. */
  get unclaimed(): number {
    this.#look()
    return ((this.#tail - this.#head) & POSITION_MASK) - this.#leftCount
  }

  /** The position of the first of these, at the last look. */
  get first(): number {
    return this.#head
  }

  /** The first of these, in order. */
  firstOnOffer(most: number): number[] {
    this.#look()
    const found: number[] = []
    for (let position = this.#head; position !== this.#tail; position = (position + 1) & POSITION_MASK) {
      if (found.length === most) break
      const ticket = this.#words[this.layout.positionsFrom + (position & (this.layout.positions - 1))]!
      if (this.tickets.isOffered(ticket, position)) found.push(ticket)
    }
    return found
  }

  get hasRoom(): boolean {
    if (this.#free.length === 0) return false
    if (((this.#tail - this.#head) & POSITION_MASK) < this.layout.positions) return true
    this.#passLeft()
    return ((this.#tail - this.#head) & POSITION_MASK) < this.layout.positions
  }

  /** The ticket of the task that is posted next. */
  get nextTicket(): number {
    return this.#free[this.#free.length - 1]!
  }

  /** Puts a task on offer; there must be room. Returns its ticket. */
  post({ taskId, handlerId, flags, from, to, int, addressee }: Posting): number {
    const words = this.#words
    const ticket = this.#free.pop()!
    const at = ticketAt(this.layout, ticket)
    words[at + TASK_ID] = taskId
    words[at + HANDLER_ID] = handlerId
    words[at + FLAGS] = flags
    words[at + FROM] = from
    words[at + TO] = to
    words[at + INT] = int
    words[at + ADDRESSEE] = addressee
    // What an earlier task's worker wrote would be taken for this one's.
    words[at + ORDINAL] = 0
    if ((flags & TIMED) !== 0) words[at + BEGUN_AT] = 0
    const position = this.#tail
    words[this.layout.positionsFrom + (position & (this.layout.positions - 1))] = ticket
    this.#positionOf[ticket] = position
    this.tickets.offer(ticket, position)
    this.#tail = (position + 1) & POSITION_MASK
    // The offer, and all the rest, before the tail: a worker looks at a position only when the tail is beyond it (pairs with
    // claim()).
    store(words, TAIL, this.#tail)
    return ticket
  }

  /** True when no worker has claimed the ticket and none will. The ticket stays the caller's until `release`. */
  takeBack(ticket: number): boolean {
    const position = this.#positionOf[ticket]!
    if (!this.tickets.takeBack(ticket, position)) return false
    this.#look()
    const isPassed = ((position - this.#head) & POSITION_MASK) >= this.layout.positions
    if (!isPassed) {
      this.#left[position & (this.layout.positions - 1)] = 1
      this.#leftCount++
    }
    return true
  }

  /** The ticket is free again: its answer is read, it was taken back, or its worker is no more. */
  release(ticket: number): void {
    this.#positionOf[ticket] = -1
    this.#free.push(ticket)
  }

  /** True while a worker may still read what the ticket, posted at that position, points to. */
  isUnread(ticket: number, position: number): boolean {
    if (this.#positionOf[ticket] !== position) return false
    const phase = this.tickets.phaseOf(ticket)
    return phase === 'offered' || phase === 'claimed'
  }

  /** True when the ticket, posted at that position, was released. */
  isReleased(ticket: number, position: number): boolean {
    return this.#positionOf[ticket] !== position
  }

  /** The only worker that may claim it; 0: any. */
  addresseeOf(ticket: number): number {
    return this.#words[ticketAt(this.layout, ticket) + ADDRESSEE]!
  }

  isByPort(ticket: number): boolean {
    return (this.#words[ticketAt(this.layout, ticket) + FLAGS]! & BY_PORT) !== 0
  }

  /** Where the ticket was posted. */
  positionOf(ticket: number): number {
    return this.#positionOf[ticket]!
  }

  /** Below 0 when the one ticket was posted before the other. */
  order(one: number, other: number): number {
    const distance = (this.#positionOf[one]! - this.#positionOf[other]!) & POSITION_MASK
    return distance > POSITION_MASK / 2 ? distance - POSITION_MASK - 1 : distance
  }

  #look(): void {
    const head = load(this.#words, HEAD)
    if (this.#leftCount > 0) {
      for (let position = this.#head; position !== head; position = (position + 1) & POSITION_MASK) {
        const place = position & (this.layout.positions - 1)
        this.#leftCount -= this.#left[place]!
        this.#left[place] = 0
      }
    }
    this.#head = head
  }

  /** Positions that were given up at the very head wait for no worker. */
  #passLeft(): void {
    this.#look()
    while (this.#head !== this.#tail && this.#left[this.#head & (this.layout.positions - 1)] === 1) {
      replace(this.#words, HEAD, this.#head, (this.#head + 1) & POSITION_MASK)
      this.#look()
    }
  }
}

/** Nothing is on offer. */
export const EMPTY = -1
/** What is next is not for this worker, or not now. */
export const BLOCKED = -2
/** The host ends this worker. */
export const DISMISSED = -3

/** A worker's end. */
export class LaneClaims {
  readonly tickets: Tickets
  readonly #layout: LaneLayout
  readonly #words: SharedWords
  readonly #workerId: number
  readonly #bell: WorkerBell
  /** It claims only what nobody else may. */
  isLeaving = false

  constructor(layout: LaneLayout, workerId: number, bell: WorkerBell) {
    this.#layout = layout
    this.#words = wordsOf(layout.memory)
    this.tickets = new Tickets(layout)
    this.#workerId = workerId
    this.#bell = bell
  }

  /** The next ticket, now this worker's to begin; or why there is none. */
  claim(held: number): number {
    const words = this.#words
    const { positions, positionsFrom } = this.#layout
    for (;;) {
      const head = load(words, HEAD)
      if (load(words, TAIL) === head) return EMPTY
      const ticket = words[positionsFrom + (head & (positions - 1))]!
      const isOnOffer = this.tickets.isOffered(ticket, head)
      if (isOnOffer && !this.#isForMe(ticket, held)) {
        // What was read may be of the ticket's next life; if the offer still stands, it was not.
        if (this.tickets.isOffered(ticket, head)) return BLOCKED
        continue
      }
      const isMine = isOnOffer && this.tickets.claim(ticket, head, this.#workerId)
      // Whoever finds the position given away moves the head on, so a worker that dies here stops nobody.
      replace(words, HEAD, head, (head + 1) & POSITION_MASK)
      if (!isMine) continue
      // A second look: the host dismisses first and searches for claims afterwards (pairs with dismiss()).
      return this.#bell.isRetired ? DISMISSED : ticket
    }
  }

  get isEmpty(): boolean {
    return load(this.#words, HEAD) === load(this.#words, TAIL)
  }

  /** `claim` might find a ticket, or might have found one in between. */
  isWorthClaiming(held: number): boolean {
    const head = load(this.#words, HEAD)
    if (load(this.#words, TAIL) === head) return false
    const { positions, positionsFrom } = this.#layout
    const ticket = this.#words[positionsFrom + (head & (positions - 1))]!
    return !this.tickets.isOffered(ticket, head) || this.#isForMe(ticket, held)
  }

  read(ticket: number): Omit<Posting, 'addressee'> {
    const words = this.#words
    const at = ticketAt(this.#layout, ticket)
    return {
      taskId: words[at + TASK_ID]!,
      handlerId: words[at + HANDLER_ID]!,
      flags: words[at + FLAGS]!,
      from: words[at + FROM]!,
      to: words[at + TO]!,
      int: words[at + INT]!,
    }
  }

  isTimed(ticket: number): boolean {
    return (this.#words[ticketAt(this.#layout, ticket) + FLAGS]! & TIMED) !== 0
  }

  /** Other workers may have had to wait behind it. */
  heldOthersUp(ticket: number): boolean {
    const at = ticketAt(this.#layout, ticket)
    return (this.#words[at + FLAGS]! & ALONE) !== 0 || this.#words[at + ADDRESSEE] !== 0
  }

  /** Nobody else may claim it, and its payload was sent along. */
  isForMeAlone(ticket: number): boolean {
    return this.#words[ticketAt(this.#layout, ticket) + ADDRESSEE] === this.#workerId
  }

  /** The claim still stands, so what was read since is of this task. */
  isStillMine(ticket: number): boolean {
    return this.tickets.isClaimedBy(ticket, this.#workerId)
  }

  #isForMe(ticket: number, held: number): boolean {
    const words = this.#words
    const at = ticketAt(this.#layout, ticket)
    const addressee = words[at + ADDRESSEE]!
    if (addressee !== this.#workerId && (addressee !== 0 || this.isLeaving)) return false
    return held === 0 || (words[at + FLAGS]! & ALONE) === 0
  }
}
