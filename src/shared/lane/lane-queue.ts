// The queue in shared memory. The host posts tickets at its end. Workers claim tickets from its start, in order.
//
// The host also uses tickets for tasks that it sends to one worker by message. These tickets have no position in the
// queue, so a busy worker does not block the other workers.
import { load, replace, store } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import type { WorkerBell } from './doorbell.js'
import type { InboxReader, InboxWriter } from './inbox.js'
import {
  CARRIER_TO,
  DEADLINE,
  FLAGS,
  FROM,
  HANDLER_ID,
  HEAD,
  INT,
  type LaneLayout,
  STARTED_AT,
  TAIL,
  TASK_ID,
  TIMEOUT_MS,
  TO,
  ticketAt,
  wordsOf,
} from './layout.js'
import { POSITION_MASK, Tickets } from './ticket.js'
import type { WorkerLaneState } from './worker-state.js'

/** The payload is an int, and the ticket itself has it. */
export const IS_INT = 1
/** The bytes hold `[handler, payload]`: not every worker knows the number of the handler. */
export const IS_NAMED = 2
/** The task has a time limit, so the worker notes its start. */
export const IS_TIMED = 4
/** The task carries values of stores. */
export const HAS_CARRIER = 8

export interface Posting {
  taskId: number
  handlerId: number
  flags: number
  from: number
  to: number
  int: number
}

/** The limits of a task with `IS_TIMED`; 0: none. */
export interface PostedLimits {
  timeoutMs: number
  /** A timestamp32 of the host's clock. */
  deadline: number
}

/** The host's end. */
export class LaneQueue {
  readonly layout: LaneLayout
  readonly tickets: Tickets
  readonly #words: LaneWords
  readonly #free: number[] = []
  /** The position of each ticket; -1 for a ticket that is not in the queue. */
  readonly #positionOf: Int32Array
  /** 1 for each position whose ticket the host recalled before a worker passed it. */
  readonly #empty: Uint8Array
  #emptyCount = 0
  /** By ticket: the worker whose inbox got it; 0: none. The position of such a ticket is that of the next ticket of the queue. */
  readonly #inboxOf: Int32Array
  /** Unreleased tickets that went to inboxes. */
  inInboxes = 0
  #tail: number
  /** The head as the host last read it. */
  #head: number
  #lastMessageNumber = 0

  constructor(layout: LaneLayout) {
    this.layout = layout
    this.tickets = new Tickets(layout)
    this.#words = wordsOf(layout.memory)
    for (let ticket = layout.tickets - 1; ticket >= 0; ticket--) this.#free.push(ticket)
    this.#positionOf = new Int32Array(layout.tickets).fill(-1)
    this.#empty = new Uint8Array(layout.positions)
    this.#inboxOf = new Int32Array(layout.tickets)
    // A new queue is empty, whatever its first position is.
    this.#tail = load(this.#words, TAIL)
    this.#head = this.#tail
  }

  /** The number of offered tickets. */
  get unclaimed(): number {
    this.#readHead()
    return ((this.#tail - this.#head) & POSITION_MASK) - this.#emptyCount
  }

  /** The position of the first offered ticket, when the head was last read. */
  get first(): number {
    return this.#head
  }

  get hasTicket(): boolean {
    return this.#free.length > 0
  }

  /** True when a ticket can be posted in the queue. */
  get hasRoom(): boolean {
    if (this.#free.length === 0) return false
    if (((this.#tail - this.#head) & POSITION_MASK) < this.layout.positions) return true
    this.#passEmpty()
    return ((this.#tail - this.#head) & POSITION_MASK) < this.layout.positions
  }

  /**
   * Offers a task to all workers. Call it only with `hasRoom`. Returns the task's ticket.
   * @param limits only with `IS_TIMED`
   * @param carrierTo only with `HAS_CARRIER`: the end of the carried values
   * @param inbox not `null`: offers the task to one worker. The inbox must have room.
   */
  post(
    { taskId, handlerId, flags, from, to, int }: Posting,
    limits: PostedLimits | null = null,
    carrierTo = 0,
    inbox: InboxWriter | null = null,
  ): number {
    const words = this.#words
    const ticket = this.#free.pop()!
    const at = ticketAt(this.layout, ticket)
    words[at + TASK_ID] = taskId
    words[at + HANDLER_ID] = handlerId
    words[at + FLAGS] = flags
    words[at + FROM] = from
    words[at + TO] = to
    words[at + INT] = int
    if (carrierTo > 0) words[at + CARRIER_TO] = carrierTo
    if (limits !== null) {
      words[at + STARTED_AT] = 0
      words[at + TIMEOUT_MS] = limits.timeoutMs
      words[at + DEADLINE] = limits.deadline
    }
    const position = this.#tail
    this.#positionOf[ticket] = position
    if (inbox === null) words[this.layout.positionsFrom + (position & (this.layout.positions - 1))] = ticket
    this.tickets.offer(ticket, position)
    if (inbox !== null) {
      this.#inboxOf[ticket] = inbox.workerId
      this.inInboxes++
      inbox.drop(ticket, position)
      return ticket
    }
    this.#tail = (position + 1) & POSITION_MASK
    // The tail is written last: a worker looks at a position only when the tail is beyond it (pairs with claim()).
    store(words, TAIL, this.#tail)
    return ticket
  }

  /** The ticket that `address` will use. Call it only with `hasTicket`. */
  get nextTicket(): number {
    return this.#free[this.#free.length - 1]!
  }

  /**
   * Takes a ticket for a task that is sent to one worker by message. Returns the number that the message must carry.
   */
  address(taskId: number): number {
    const ticket = this.#free.pop()!
    const at = ticketAt(this.layout, ticket)
    this.#words[at + TASK_ID] = taskId
    this.#words[at + STARTED_AT] = 0
    this.#lastMessageNumber = (this.#lastMessageNumber + 1) & POSITION_MASK
    this.tickets.address(ticket, this.#lastMessageNumber)
    return this.#lastMessageNumber
  }

  /** True when no worker has claimed the ticket and none will. The ticket stays taken until `release`. */
  takeBackOffered(ticket: number): boolean {
    const position = this.#positionOf[ticket]!
    if (!this.tickets.takeBackOffered(ticket, position)) return false
    if (this.#inboxOf[ticket] !== 0) return true
    this.#readHead()
    const isPassed = ((position - this.#head) & POSITION_MASK) >= this.layout.positions
    if (!isPassed) {
      this.#empty[position & (this.layout.positions - 1)] = 1
      this.#emptyCount++
    }
    return true
  }

  /** The ticket is free again: the host read its answer, or recalled the task, or its worker has ended. */
  release(ticket: number): void {
    this.#positionOf[ticket] = -1
    if (this.#inboxOf[ticket] !== 0) {
      this.#inboxOf[ticket] = 0
      this.inInboxes--
    }
    this.#free.push(ticket)
  }

  /** True while a worker may still read the payload of the ticket that was posted at this position. */
  isUnread(ticket: number, position: number): boolean {
    if (this.#positionOf[ticket] !== position) return false
    const phase = this.tickets.phaseOf(ticket)
    return phase === 'offered' || phase === 'claimed'
  }

  /** True when the ticket that was posted at this position was released. */
  isReleased(ticket: number, position: number): boolean {
    return this.#positionOf[ticket] !== position
  }

  /** The worker whose inbox got the ticket; 0: none. */
  inboxOf(ticket: number): number {
    return this.#inboxOf[ticket]!
  }

  /** The position of the ticket in the queue; -1 for a task that was sent by message. */
  positionOf(ticket: number): number {
    return this.#positionOf[ticket]!
  }

  /** Below 0 when the first ticket was posted before the second. */
  compare(one: number, other: number): number {
    const distance = (this.#positionOf[one]! - this.#positionOf[other]!) & POSITION_MASK
    return distance > POSITION_MASK / 2 ? distance - POSITION_MASK - 1 : distance
  }

  #readHead(): void {
    const head = load(this.#words, HEAD)
    if (!this.#isPossible(head)) return this.#repair(head)
    if (this.#emptyCount > 0) {
      for (let position = this.#head; position !== head; position = (position + 1) & POSITION_MASK) {
        const place = position & (this.layout.positions - 1)
        this.#emptyCount -= this.#empty[place]!
        this.#empty[place] = 0
      }
    }
    this.#head = head
  }

  /** False for a head that a handler has damaged, for example with native code. */
  #isPossible(head: number): boolean {
    return (
      head === (head & POSITION_MASK) &&
      ((head - this.#head) & POSITION_MASK) <= ((this.#tail - this.#head) & POSITION_MASK)
    )
  }

  /** Workers check the positions after the last known head again, and claim none that was claimed before. */
  #repair(head: number): void {
    store(this.#words, TAIL, this.#tail)
    replace(this.#words, HEAD, head, this.#head)
  }

  /** Moves the head past empty positions, so that no worker has to do it. */
  #passEmpty(): void {
    this.#readHead()
    while (this.#head !== this.#tail && this.#empty[this.#head & (this.layout.positions - 1)] === 1) {
      replace(this.#words, HEAD, this.#head, (this.#head + 1) & POSITION_MASK)
      this.#readHead()
    }
  }
}

/** This worker can claim nothing now. */
export const EMPTY = -1
/** The host has given this worker up. */
export const DISMISSED = -2

/** A worker's end. */
export class QueueReader {
  readonly tickets: Tickets
  readonly #layout: LaneLayout
  readonly #words: LaneWords
  readonly #workerId: number
  readonly #bell: WorkerBell
  readonly #state: WorkerLaneState
  readonly #inbox: InboxReader
  /** The worker counted a task but did not get it. Meanwhile the host may have seen this worker as busy. */
  hasLostClaim = false

  constructor(
    layout: LaneLayout,
    workerId: number,
    bell: WorkerBell,
    state: WorkerLaneState,
    inbox: InboxReader,
  ) {
    this.#layout = layout
    this.#words = wordsOf(layout.memory)
    this.tickets = new Tickets(layout)
    this.#workerId = workerId
    this.#bell = bell
    this.#state = state
    this.#inbox = inbox
  }

  /**
   * Claims the next ticket of the queue for this worker. Returns the ticket, `EMPTY` or `DISMISSED`. Claims nothing while a message
   * with a task is on its way to this worker, because that task came first and has the slot. The same holds for a ticket in the inbox that
   * was offered before the next one of the queue.
   * @param held tasks that the worker has claimed and not answered
   */
  claim(held: number): number {
    const words = this.#words
    const { positions, positionsFrom } = this.#layout
    for (;;) {
      const head = load(words, HEAD)
      if (load(words, TAIL) === head) return EMPTY
      // The host counts a message before it posts later tasks. So look here after the tail (pairs with setSent() and
      // post()).
      if (this.#state.isTaskOnItsWay && !this.#precedesInbox(head)) return EMPTY
      const ticket = words[positionsFrom + (head & (positions - 1))]!
      const isMine = this.tickets.isOffered(ticket, head) && this.#tryClaim(ticket, head, held)
      // A worker that finds the position already claimed moves the head as well. So a worker that dies here stops
      // nobody.
      replace(words, HEAD, head, (head + 1) & POSITION_MASK)
      if (isMine) return this.#confirm(ticket, held)
    }
  }

  /** Claims the next ticket of the inbox. Call it while a task is on its way and `claim()` found nothing. Returns the same as `claim()`. */
  claimFromInbox(held: number): number {
    const inbox = this.#inbox
    while (!inbox.isEmpty) {
      // The host may have posted an earlier task in the queue since the worker found the queue empty.
      const head = load(this.#words, HEAD)
      if (load(this.#words, TAIL) !== head && this.#precedesInbox(head)) {
        const earlier = this.claim(held)
        if (earlier !== EMPTY) return earlier
        continue
      }
      const { ticket, position } = inbox
      inbox.pass()
      this.#state.noteReceived()
      if (this.tickets.isOffered(ticket, position) && this.#tryClaim(ticket, position, held))
        return this.#confirm(ticket, held)
    }
    return EMPTY
  }

  /** True when the position was posted before the next ticket of the inbox. */
  #precedesInbox(position: number): boolean {
    const inbox = this.#inbox
    return !inbox.isEmpty && ((inbox.position - position - 1) & POSITION_MASK) < POSITION_MASK / 2
  }

  /** The host first dismisses a worker and then looks for its claims. So look here after the claim (pairs with dismiss()). */
  #confirm(ticket: number, held: number): number {
    if (!this.#bell.isDismissed) return ticket
    // The host takes the task back. A leaving worker ends only when it holds no task.
    this.#state.setHeld(held)
    return DISMISSED
  }

  /** Counts the task before the claim, so that a host that sees an empty queue never counts this worker as idle. */
  #tryClaim(ticket: number, position: number, held: number): boolean {
    this.#state.setHeld(held + 1)
    if (this.tickets.claim(ticket, position, this.#workerId)) return true
    this.#state.setHeld(held)
    this.hasLostClaim = true
    return false
  }

  get isEmpty(): boolean {
    return load(this.#words, HEAD) === load(this.#words, TAIL)
  }

  read(ticket: number): Posting {
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

  /** The end of the carried values of a ticket with `HAS_CARRIER`. */
  readCarrierTo(ticket: number): number {
    return this.#words[ticketAt(this.#layout, ticket) + CARRIER_TO]!
  }

  /** The limits of a ticket with `IS_TIMED`. */
  readLimits(ticket: number): PostedLimits {
    const at = ticketAt(this.#layout, ticket)
    return { timeoutMs: this.#words[at + TIMEOUT_MS]!, deadline: this.#words[at + DEADLINE]! }
  }

  /** False when the host has taken the task back. The data that was read may then belong to another task. */
  isStillClaimed(ticket: number): boolean {
    return this.tickets.isClaimedBy(ticket, this.#workerId)
  }
}
