// Gives the answers of tasks from the lane: into the ring, or over the port where the ring has no room or the codec
// declines. What this worker holds is counted here, for the host to see.
import type { MessagePort } from 'node:worker_threads'
import { DECLINED, type Encoder, NO_ROOM } from '../shared/codec/encoder.js'
import { type LargeMessage, transferList } from '../shared/codec/format.js'
import type { SerializedError } from '../shared/errors/serialize-error.js'
import { DeskWords } from '../shared/lane/desk.js'
import { HostBell } from '../shared/lane/doorbell.js'
import { type DeskLayout, LARGEST_VALUE_BYTES, type LaneLayout } from '../shared/lane/layout.js'
import { BYTES, FAILURE, INT_VALUE, type RecordKind, ResultWriter } from '../shared/lane/result-ring.js'
import { Tickets } from '../shared/lane/tickets.js'
import { encoderFor, isInt } from '../shared/lane/values.js'
import type { FailureReason, ToHost } from '../shared/messages/messages.js'
import { isMoved } from '../shared/messages/move.js'
import { sendFailure, sendResult } from './assignment.js'
import { Cancellations } from './cancellations.js'
import { realClock } from './clock.js'
import { copied } from './copied.js'
import type { LaneAssignment } from './lane-assignment.js'

export class LaneAnswers {
  readonly #port: MessagePort
  readonly #workerId: number
  readonly #tickets: Tickets
  readonly #ring: ResultWriter
  readonly #encoder: Encoder
  readonly #hostBell: HostBell
  readonly #desk: DeskWords
  /** What the host's clock is ahead of this thread's. */
  readonly #toHostClock: number
  readonly #onAnswered: () => void
  readonly cancellations = new Cancellations()
  /** When the last answer was given. */
  answeredAt = 0
  #held = 0
  /** Answers sent over the port. */
  #sent = 0

  /** @param onAnswered called when there is room again */
  constructor(
    port: MessagePort,
    workerId: number,
    lane: LaneLayout,
    desk: DeskLayout,
    toHostClock: number,
    onAnswered: () => void,
  ) {
    this.#port = port
    this.#workerId = workerId
    this.#tickets = new Tickets(lane)
    this.#ring = new ResultWriter(desk)
    this.#encoder = encoderFor(desk)
    this.#hostBell = new HostBell(lane)
    this.#desk = new DeskWords(desk)
    this.#toHostClock = toHostClock
    this.#onAnswered = onAnswered
  }

  /** Tasks claimed and not answered. */
  get held(): number {
    return this.#held
  }

  onClaimed(): void {
    this.#desk.setHeld(++this.#held)
  }

  /** A task that was claimed is the host's again. */
  onGivenBack(): void {
    this.#desk.setHeld(--this.#held)
    this.#port.postMessage('bell' satisfies ToHost)
  }

  /** There is no task left: a host that rests has the next ones, and answers to take in. */
  onNothingToDo(): void {
    if (this.#hostBell.ringAtRest()) this.#port.postMessage('bell' satisfies ToHost)
  }

  isCancelled({ ticket }: LaneAssignment): boolean {
    return this.#tickets.isCondemned(ticket, this.#workerId)
  }

  markLoading(task: LaneAssignment, isLoading: boolean): void {
    this.#tickets.markLoading(task.ticket, this.#workerId, isLoading)
  }

  holdTime({ ticket }: LaneAssignment): () => void {
    const heldAt = realClock.now()
    const stamp = this.#tickets.holdTime(ticket, this.#workerId)
    return () => this.#tickets.resumeTime(ticket, this.#workerId, stamp, realClock.now() - heldAt)
  }

  /** A result is written before it is the answer: getters of the user's run meanwhile, as long as they like. */
  succeed(task: LaneAssignment, result: unknown): void {
    const runMs = this.#runMsOf(task)
    if (isInt(result)) {
      const hasRoom = this.#ring.reserve() >= 0
      if (!this.#mayAnswer(task)) return
      if (hasRoom) this.#publish(INT_VALUE, task, result, runMs)
      else this.#send(task, result, runMs)
    } else if (isMoved(result)) {
      if (this.#mayAnswer(task)) this.#send(task, result, runMs)
    } else {
      const from = this.#ring.reserve()
      const end = this.#write(result, from)
      const long = end === NO_ROOM ? this.#encoder.encodeLarge(result) : null
      const { copy, problem } = end < 0 && long === null ? copied(result) : { copy: result }
      if (!this.#mayAnswer(task)) return
      if (end >= 0) this.#publish(BYTES, task, end - from, runMs)
      else if (long !== null) this.#sendLong(task, long, runMs)
      else if (problem === undefined) this.#send(task, copy, runMs)
      else this.#sayFailed(task, 'result', problem.error, problem.path, runMs)
    }
  }

  #send(task: LaneAssignment, result: unknown, runMs: number): void {
    const problem = sendResult(this.#port, this.#nextSent(task, runMs), result)
    if (problem === null) return this.#onAnswered()
    // Nothing was sent, so no answer that the host cannot read may be taken for this one.
    this.#sent--
    this.#tickets.setOrdinal(task.ticket, 0)
    this.#sayFailed(task, 'result', problem.error, problem.path, runMs)
  }

  fail(task: LaneAssignment, reason: FailureReason, error: SerializedError, path: string): void {
    const runMs = this.#runMsOf(task)
    if (!this.#mayAnswer(task)) return
    this.#sayFailed(task, reason, error, path, runMs)
  }

  #sayFailed(
    task: LaneAssignment,
    reason: FailureReason,
    error: SerializedError,
    path: string,
    runMs: number,
  ): void {
    const from = this.#ring.reserve()
    const end = this.#write([reason, error, path], from)
    if (end >= 0) return this.#publish(FAILURE, task, end - from, runMs)
    sendFailure(this.#port, this.#nextSent(task, runMs), reason, error, path)
    this.#onAnswered()
  }

  /** Into the ring, where nobody sees it yet. Where it ends; DECLINED also where the ring is full; or NO_ROOM. */
  #write(value: unknown, from: number): number {
    return from < 0 ? DECLINED : this.#encoder.encode(value, from, from + LARGEST_VALUE_BYTES)
  }

  #runMsOf({ startedAt }: LaneAssignment): number {
    this.answeredAt = realClock.now()
    return this.answeredAt - startedAt
  }

  /** Too large for the ring: in a form that the host can read in slices. */
  #sendLong(task: LaneAssignment, message: LargeMessage, runMs: number): void {
    const answer: ToHost = {
      kind: 'done',
      ...this.#nextSent(task, runMs),
      result: message,
      isLong: true,
    }
    this.#port.postMessage(answer, transferList(message))
    this.#onAnswered()
  }

  #publish(kind: RecordKind, task: LaneAssignment, value: number, runMs: number): void {
    this.#ring.publish(kind, task.ticket, task.taskId, value, task.startedAt + this.#toHostClock, runMs)
    // The bell after the publishing (pairs with announceSleep() and the look after it).
    if (this.#hostBell.ring()) this.#port.postMessage('bell' satisfies ToHost)
    this.#onAnswered()
  }

  /** The host finds by its number the answer that it could not read. */
  #nextSent({ taskId, ticket, startedAt }: LaneAssignment, runMs: number) {
    this.#tickets.setOrdinal(ticket, ++this.#sent)
    return { taskId, slot: ticket, startedAt: startedAt + this.#toHostClock, runMs }
  }

  /** False when the task was cancelled: nobody wants to know, and the host is told that its handler has ended. */
  #mayAnswer(task: LaneAssignment): boolean {
    const mayAnswer = this.#tickets.answer(task.ticket, this.#workerId)
    task.state = mayAnswer ? 'answered' : 'ended'
    this.cancellations.forget(task.taskId)
    if (!mayAnswer) {
      this.#end(task)
      return false
    }
    // Before the answer: who reads that one finds the worker without the task.
    this.#desk.setHeld(--this.#held)
    return true
  }

  #end({ ticket, taskId }: LaneAssignment): void {
    // A worker that was given up has nothing to say: its tickets are the host's.
    if (!this.#tickets.end(ticket, this.#workerId)) return
    this.#desk.setHeld(--this.#held)
    this.#port.postMessage({ kind: 'over', taskId, slot: ticket } satisfies ToHost)
    this.#onAnswered()
  }
}
