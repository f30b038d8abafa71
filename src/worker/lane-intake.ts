// Tasks that this worker pulls from the lane. It takes one after another while there are any and it has room, turns its own
// event loop in between, and goes back to it for good when the lane is empty: it never blocks to wait.
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Decoder } from '../shared/codec/decoder.js'
import { deserializeError } from '../shared/errors/serialize-error.js'
import { DeskWords } from '../shared/lane/desk.js'
import { WorkerBell } from '../shared/lane/doorbell.js'
import { deskIn, laneIn } from '../shared/lane/layout.js'
import {
  ALONE,
  BLOCKED,
  BY_PORT,
  DISMISSED,
  EMPTY,
  IS_INT,
  LaneClaims,
  NAMED,
  type Posting,
  TIMED,
} from '../shared/lane/task-lane.js'
import { decoderFor } from '../shared/lane/values.js'
import type { Handler } from '../shared/messages/handler.js'
import { kindOf } from '../shared/messages/kind-of.js'
import type { RoadOrder, ToHost, ToWorker } from '../shared/messages/messages.js'
import { invariant } from '../shared/platform/invariant.js'
import type { Timer } from '../shared/platform/make-clock.js'
import { realClock } from './clock.js'
import type { Executor } from './executor.js'
import { type Intake, type RunMessage, YIELD_MS } from './intake.js'
import { LaneAnswers } from './lane-answers.js'
import { LaneAssignment } from './lane-assignment.js'
import { Spinner } from './spinner.js'

/** What is next is not for this worker: it looks again after so long, and each time after twice as long, up to the most. */
const FIRST_RETRY_MS = 1
const MOST_RETRY_MS = 32

type LaneOrder = Extract<RoadOrder, { kind: 'lane' }>

export class LaneIntake implements Intake {
  readonly #port: MessagePort
  readonly #workerId: number
  readonly #slots: number
  /** What the host's clock is ahead of this thread's. */
  readonly #toHostClock: number
  readonly #claims: LaneClaims
  readonly #bell: WorkerBell
  readonly #answers: LaneAnswers
  readonly #decoder: Decoder
  readonly #executor: Executor
  readonly #spinner: Spinner
  readonly #known = new Map<number, Handler>()
  /** Tickets claimed whose payload is on its way; by ticket. */
  readonly #expected = new Map<number, number>()
  /** Payloads that came before their ticket was claimed; by task, since a ticket's may be of one that it stood for before. */
  readonly #arrived = new Map<number, RunMessage>()
  readonly #hasCome = () => !this.#claims.isEmpty
  /** Payloads that came over the port. */
  #received = 0
  /** The drain is under way, or will be in a turn. */
  #isDraining = false
  #isTaking = false
  /** It has said that it leaves: the host takes back what it can, and says when the rest may begin. */
  #awaitsLeave = false
  #retry: Timer | null = null
  #retryMs = FIRST_RETRY_MS
  /** When it last came from its event loop, as far as it knows. */
  #cameAt = 0
  /** The task that it holds must be the only one. */
  #isAlone = false

  constructor(port: MessagePort, order: LaneOrder, executor: Executor) {
    const lane = laneIn(order.lane)
    const desk = deskIn(order.desk)
    this.#port = port
    this.#workerId = order.workerId
    this.#slots = order.slots
    this.#toHostClock = realClock.origin() - order.clockOrigin
    this.#executor = executor
    this.#bell = new WorkerBell(order.desk)
    this.#claims = new LaneClaims(lane, order.workerId, this.#bell)
    const { workerId } = order
    this.#answers = new LaneAnswers(port, workerId, lane, desk, this.#toHostClock, () => this.#onAnswered())
    const words = new DeskWords(desk)
    this.#decoder = decoderFor(lane)
    this.#spinner = new Spinner(() => words.maySpin)
    for (const { handlerId, handler } of order.handlers) this.#known.set(handlerId, handler)
  }

  open(): void {
    this.#isTaking = true
    this.#drainAnew()
  }

  leave(): void {
    this.#claims.isLeaving = true
    this.#awaitsLeave = true
  }

  stopTaking(): void {
    this.#isTaking = false
  }

  onMessage(message: ToWorker): void {
    if (message === 'bell') return this.#drainAnew()
    switch (message.kind) {
      case 'run':
        this.#received++
        if (!this.#awaitsLeave && this.#expected.get(message.slot) === message.taskId) {
          this.#expected.delete(message.slot)
          return this.#begin(message, this.#claims.isTimed(message.slot), realClock.now())
        }
        this.#arrived.set(message.taskId, message)
        return this.#drainAnew()
      case 'known':
        this.#known.set(message.handlerId, message.handler)
        return
      case 'drop':
        return this.#drop(message.slot, message.taskId)
      case 'cancel':
        return this.#cancel(message)
      case 'ask':
        return this.#say({ kind: 'alive' })
      case 'leave':
        return this.#goOn()
    }
  }

  /** What the host has not taken back was given away to this worker. */
  #goOn(): void {
    this.#awaitsLeave = false
    for (const [ticket, taskId] of this.#expected) {
      const message = this.#takeArrived(ticket, taskId)
      if (message === null) continue
      this.#expected.delete(ticket)
      this.#begin(message, this.#claims.isTimed(ticket), realClock.now())
    }
    this.#drainAnew()
  }

  /** The host knows by the number which one it was, and drops its ticket. */
  onUnreadable(): void {
    this.#say({ kind: 'unreadable', ordinal: ++this.#received })
  }

  /** Handlers that await are answered in microtasks, one after another: then the event loop has not turned in between. */
  #onAnswered(): void {
    this.#isAlone = false
    if (!this.#isDraining) this.#drain()
  }

  /** A task that was claimed is the host's again, so there is room for another. */
  #giveBack(): void {
    this.#answers.onGivenBack()
    this.#onAnswered()
  }

  /** The event loop has turned. */
  #drainAnew(): void {
    if (this.#isDraining) return
    this.#cameAt = realClock.now()
    this.#drain()
  }

  #drain(): void {
    if (this.#isDraining || !this.#isTaking || !this.#bell.wake()) return
    this.#isDraining = true
    const isToYield = this.#pull()
    if (isToYield) {
      realClock.nextTurn(() => {
        this.#isDraining = false
        this.#drainAnew()
      })
    } else {
      this.#isDraining = false
    }
  }

  /** Runs tasks until there are none for this worker; true when it should come back after a turn of the event loop. */
  #pull(): boolean {
    let now = realClock.now()
    while (this.#isTaking && !this.#awaitsLeave) {
      // Full: it looks again when a task is done, so nobody needs to wake it.
      if (this.#answers.held >= this.#slots || this.#isAlone) return false
      const ticket = this.#claims.claim(this.#answers.held)
      if (ticket >= 0) {
        this.#spinner.onWork()
        this.#retryMs = FIRST_RETRY_MS
        this.#take(ticket, now)
        // A plain handler has just been answered; another may have run for long all the same.
        now = this.#answers.answeredAt > now ? this.#answers.answeredAt : realClock.now()
        if (now - this.#cameAt >= YIELD_MS) return true
      } else if (ticket === DISMISSED) {
        this.#isTaking = false
      } else if (ticket !== EMPTY || this.#answers.held > 0 || !this.#spinner.lookOut(this.#hasCome)) {
        if (ticket === EMPTY) this.#answers.onNothingToDo()
        if (!this.#bell.park(this.#answers.held > 0)) return false
        // Look again after the announcement (pairs with post() and then ring()).
        if (!this.#claims.isWorthClaiming(this.#answers.held)) {
          if (ticket === BLOCKED) this.#lookAgainLater()
          return false
        }
        if (!this.#bell.wake()) return false
      } else {
        now = realClock.now()
      }
    }
    return false
  }

  /** Whoever claims what is in the way tells the host, which wakes the others; but the host may be busy. */
  #lookAgainLater(): void {
    this.#retry?.cancel()
    this.#retry = realClock.after(this.#retryMs, () => this.#drainAnew())
    this.#retryMs = Math.min(2 * this.#retryMs, MOST_RETRY_MS)
  }

  #take(ticket: number, now: number): void {
    const posting = this.#claims.read(ticket)
    const heldOthersUp = this.#claims.heldOthersUp(ticket)
    const isForMeAlone = this.#claims.isForMeAlone(ticket)
    this.#answers.onClaimed()
    // Taken back already, it may have been posted anew: then all that was read is another task's.
    if (!this.#claims.isStillMine(ticket)) return this.#giveBack()
    if (heldOthersUp) {
      this.#isAlone = (posting.flags & ALONE) !== 0
      if (!this.#claims.isEmpty) this.#say('bell')
    }
    const isTimed = (posting.flags & TIMED) !== 0
    if ((posting.flags & BY_PORT) !== 0) {
      return this.#takeFromPort(ticket, posting.taskId, isForMeAlone, isTimed, now)
    }
    const task = this.#decode(ticket, posting)
    if (task === null) this.#giveBack()
    else this.#begin(task, isTimed, now)
  }

  /** `null` when the task was taken back meanwhile: then the bytes may be another's, and make no sense. */
  #decode(ticket: number, { taskId, handlerId, flags, from, to, int }: Omit<Posting, 'addressee'>) {
    if ((flags & IS_INT) !== 0) return { taskId, slot: ticket, handlerId, handler: null, payload: int }
    try {
      const payload = this.#decoder.decode(from, to)
      if ((flags & NAMED) === 0) return { taskId, slot: ticket, handlerId, handler: null, payload }
      const [filename, name, inner] = payload as [string, string, unknown]
      return { taskId, slot: ticket, handlerId, handler: { filename, name }, payload: inner }
    } catch (failure) {
      if (this.#claims.isStillMine(ticket)) throw failure
      return null
    }
  }

  /** @param wasSent the host has sent the payload by itself; it is under way when it is not here */
  #takeFromPort(ticket: number, taskId: number, wasSent: boolean, isTimed: boolean, now: number): void {
    const message = this.#takeArrived(ticket, taskId)
    if (message !== null) return this.#begin(message, isTimed, now)
    // Claimed a second time, it was taken back since: the word of that, still under way, will find another's number here.
    if (this.#expected.has(ticket)) this.#answers.onGivenBack()
    this.#expected.set(ticket, taskId)
    if (!wasSent) this.#say({ kind: 'send', taskId, slot: ticket })
  }

  #takeArrived(ticket: number, taskId: number): RunMessage | null {
    const message = this.#arrived.get(taskId)
    if (message?.slot !== ticket) return null
    this.#arrived.delete(taskId)
    return message
  }

  #begin(task: Omit<RunMessage, 'kind'>, isTimed: boolean, now: number): void {
    const { tickets } = this.#claims
    if (!tickets.begin(task.slot, this.#workerId)) return this.#giveBack()
    if (isTimed) tickets.noteBegin(task.slot, now + this.#toHostClock)
    const handler = task.handler ?? this.#knownHandler(task.handlerId)
    this.#executor.run(
      new LaneAssignment(task.taskId, task.slot, task.handlerId, handler, task.payload, now, this.#answers),
    )
  }

  /** What it stands for was said over the port before the ticket was posted, so the message is there. */
  #knownHandler(handlerId: number): Handler {
    for (;;) {
      const handler = this.#known.get(handlerId)
      if (handler !== undefined) return handler
      const next = receiveMessageOnPort(this.#port)
      invariant(next !== undefined, 'a handler is made known before a task names it by number')
      const message = next.message as ToWorker
      if (kindOf(message) === 'stop') process.exit()
      this.onMessage(message)
    }
  }

  /** Unless its handler has ended meanwhile. */
  #cancel({ slot, taskId, reason }: Extract<ToWorker, { kind: 'cancel' }>): void {
    const { tickets } = this.#claims
    if (tickets.isCondemned(slot, this.#workerId) && this.#claims.read(slot).taskId === taskId)
      this.#answers.cancellations.cancel(taskId, deserializeError(reason))
  }

  #drop(ticket: number, taskId: number): void {
    this.#takeArrived(ticket, taskId)
    if (this.#expected.get(ticket) !== taskId) return
    this.#expected.delete(ticket)
    this.#giveBack()
  }

  #say(message: ToHost): void {
    this.#port.postMessage(message)
  }
}
