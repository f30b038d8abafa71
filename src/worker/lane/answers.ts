// Gives the answers of tasks: through the result ring, or by message where there is no ring, the ring has no room, or the codec
// declines the value. Counts the tasks that this worker holds.
import { DECLINED, type Encoder, NO_ROOM } from '../../shared/codec/encoder.js'
import { type LargeMessage, transferList } from '../../shared/codec/format.js'
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import type { HostBell } from '../../shared/lane/doorbell.js'
import { encoderFor, isInt } from '../../shared/lane/lane-codec.js'
import { LARGEST_VALUE_BYTES, type WorkerStateLayout } from '../../shared/lane/layout.js'
import {
  BYTES_VALUE,
  FAILURE,
  INT_VALUE,
  type RecordKind,
  ResultWriter,
} from '../../shared/lane/result-ring.js'
import type { WorkerTickets } from '../../shared/lane/ticket.js'
import type { WorkerSharedState } from '../../shared/lane/worker-state.js'
import type { FailureReason, HostPort, ToHost } from '../../shared/messages/messages.js'
import { isMoved } from '../../shared/messages/move.js'
import { Cancellations } from '../run/cancellations.js'
import { workerClock } from '../run/clock.js'
import { sendFailure, sendResult } from './answer-messages.js'
import type { TaskAnswers, WorkerTask } from './worker-task.js'

/** The worker's end of its result ring, with what belongs to it. */
export class RingWriter {
  readonly ring: ResultWriter
  readonly encoder: Encoder
  readonly hostBell: HostBell
  readonly state: WorkerSharedState

  constructor(layout: WorkerStateLayout, hostBell: HostBell, state: WorkerSharedState) {
    this.ring = new ResultWriter(layout)
    this.encoder = encoderFor(layout)
    this.hostBell = hostBell
    this.state = state
  }

  /** Writes a value where nobody sees it yet. Returns where it ends, or `DECLINED` (also when the ring is full), or `NO_ROOM`. */
  write(value: unknown, from: number): number {
    return from < 0 ? DECLINED : this.encoder.encode(value, from, from + LARGEST_VALUE_BYTES)
  }
}

export class WorkerAnswers implements TaskAnswers {
  readonly cancellations = new Cancellations()
  readonly #port: HostPort
  readonly #workerId: number
  readonly #tickets: WorkerTickets
  readonly #writer: RingWriter | null
  /** Added to a time of this thread, it gives the time on the host's clock. */
  readonly #toHostClock: number
  readonly #onAnswered: () => void
  /** Started tasks that came by message, by id. */
  readonly #sent = new Map<number, WorkerTask>()
  /** When the last answer was given. */
  answeredAt = 0
  /** Tasks claimed from the shared queue and not answered. */
  #claimed = 0

  /**
   * @param writer `null`: all answers are messages
   * @param onAnswered called when the worker has room for another task
   */
  constructor(
    port: HostPort,
    workerId: number,
    tickets: WorkerTickets,
    writer: RingWriter | null,
    toHostClock: number,
    onAnswered: () => void,
  ) {
    this.#port = port
    this.#workerId = workerId
    this.#tickets = tickets
    this.#writer = writer
    this.#toHostClock = toHostClock
    this.#onAnswered = onAnswered
  }

  get claimed(): number {
    return this.#claimed
  }

  /** The shared count was raised by the claim itself. */
  onClaimed(): void {
    this.#claimed++
  }

  /** The host took a claimed task back. */
  onTakenBack(): void {
    this.#lowerClaimed()
    this.#say('bell')
  }

  #lowerClaimed(): void {
    this.#writer!.state.setHeld(--this.#claimed)
  }

  /** There is no task left: a host that rests has the next ones, and answers to collect. */
  onIdle(): void {
    if (this.#writer!.hostBell.ringAtRest()) this.#say('bell')
  }

  isCancelled({ ticket }: WorkerTask): boolean {
    return this.#tickets.isCancelling(ticket, this.#workerId)
  }

  markLoading({ ticket }: WorkerTask, isLoading: boolean): void {
    this.#tickets.markLoading(ticket, this.#workerId, isLoading)
  }

  pauseTime({ ticket }: WorkerTask): () => void {
    const pausedAt = workerClock.now()
    const timestamp = this.#tickets.pauseTime(ticket, this.#workerId)
    return () => this.#tickets.resumeTime(ticket, this.#workerId, timestamp, workerClock.now() - pausedAt)
  }

  /** The result is written before the ticket says that it is answered: encoding a large one may take long. */
  succeed(task: WorkerTask, result: unknown): void {
    const runMs = this.#runMsOf(task)
    const writer = this.#writer
    if (writer === null) this.#sendDirectly(task, result, runMs)
    else if (isMoved(result)) {
      if (this.#mayAnswer(task)) this.#send(task, result, runMs)
    } else if (isInt(result)) {
      const hasRoom = writer.ring.reserve() >= 0
      if (!this.#mayAnswer(task)) return
      if (hasRoom) this.#publish(writer, INT_VALUE, task, result, runMs)
      else this.#send(task, result, runMs)
    } else {
      const from = writer.ring.reserve()
      const end = writer.write(result, from)
      const long = end === NO_ROOM ? writer.encoder.encodeLarge(result) : null
      if (!this.#mayAnswer(task)) return
      if (end >= 0) this.#publish(writer, BYTES_VALUE, task, end - from, runMs)
      else if (long !== null) this.#sendLong(task, long, runMs)
      else this.#send(task, result, runMs)
    }
  }

  fail(task: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void {
    const runMs = this.#runMsOf(task)
    if (this.#mayAnswer(task)) this.#sendFailure(task, reason, error, path, runMs)
  }

  #send(task: WorkerTask, result: unknown, runMs: number): void {
    const problem = sendResult(this.#port, this.#address(task, runMs), result)
    if (problem === null) this.#onAnswered()
    else this.#sendFailure(task, 'result', problem.error, problem.path, runMs)
  }

  /** Without a ring: the task's time limit counts until the result is written. A host that cancels meanwhile drops the answer. */
  #sendDirectly(task: WorkerTask, result: unknown, runMs: number): void {
    if (this.isCancelled(task)) return void this.#mayAnswer(task)
    const problem = sendResult(this.#port, this.#address(task, runMs), result)
    if (problem !== null) return this.fail(task, 'result', problem.error, problem.path)
    // The host may have read the answer and posted the ticket again, so the ticket is left alone.
    task.state = 'answered'
    this.cancellations.forget(task.taskId)
    this.#remove(task)
    this.#onAnswered()
  }

  #sendFailure(
    task: WorkerTask,
    reason: FailureReason,
    error: SerializedError,
    path: string,
    runMs: number,
  ): void {
    const writer = this.#writer
    if (writer !== null) {
      const from = writer.ring.reserve()
      const end = writer.write([reason, error, path], from)
      if (end >= 0) return this.#publish(writer, FAILURE, task, end - from, runMs)
    }
    sendFailure(this.#port, this.#address(task, runMs), reason, error, path)
    this.#onAnswered()
  }

  /** A result that is too large for the ring, in a form that the host can decode in slices. */
  #sendLong(task: WorkerTask, message: LargeMessage, runMs: number): void {
    this.#port.postMessage(
      { kind: 'done', ...this.#address(task, runMs), result: message, isLong: true },
      transferList(message),
    )
    this.#onAnswered()
  }

  #publish(writer: RingWriter, kind: RecordKind, task: WorkerTask, value: number, runMs: number): void {
    writer.ring.publish(kind, task.ticket, task.taskId, value, task.startedAt + this.#toHostClock, runMs)
    // The bell comes after the record (pairs with announceSleep() and the look after it).
    if (writer.hostBell.ring()) this.#say('bell')
    this.#onAnswered()
  }

  #runMsOf({ startedAt }: WorkerTask): number {
    this.answeredAt = workerClock.now()
    return this.answeredAt - startedAt
  }

  #address({ taskId, ticket, startedAt }: WorkerTask, runMs: number) {
    return { taskId, ticket, startedAt: startedAt + this.#toHostClock, runMs }
  }

  /** False when the task was cancelled: then the host is told that its handler has ended. */
  #mayAnswer(task: WorkerTask): boolean {
    const mayAnswer = this.#tickets.answer(task.ticket, this.#workerId)
    task.state = mayAnswer ? 'answered' : 'ended'
    this.cancellations.forget(task.taskId)
    // A host that reads the answer must find this worker without the task.
    this.#remove(task)
    if (mayAnswer) return true
    // A worker that the host has given up has nothing to report: its tickets belong to others.
    if (this.#tickets.end(task.ticket, this.#workerId)) {
      this.#say({ kind: 'task-ended', taskId: task.taskId, ticket: task.ticket })
    }
    this.#onAnswered()
    return false
  }

  /** The tasks that came by message, are started and not answered, by id. */
  get sent(): ReadonlyMap<number, WorkerTask> {
    return this.#sent
  }

  onSentStarted(task: WorkerTask): void {
    this.#sent.set(task.taskId, task)
  }

  #remove(task: WorkerTask): void {
    if (task.wasSent) this.#sent.delete(task.taskId)
    else this.#lowerClaimed()
  }

  #say(message: ToHost): void {
    this.#port.postMessage(message)
  }
}
