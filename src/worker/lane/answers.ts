// Sends the answers of tasks through the result ring. Sends them by message if the worker has no ring, the ring has no
// room, or the codec declines the value. Counts the tasks that this worker has.
import { DECLINED, type Encoder, LARGE } from '../../shared/codec/encoder.js'
import { type LargeMessage, transferList } from '../../shared/codec/format.js'
import { LARGE_SIZES, type LargeSizes } from '../../shared/codec/writer.js'
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
import type { WorkerLaneState } from '../../shared/lane/worker-state.js'
import type { FailureReason, HostPort, ToHost } from '../../shared/messages/messages.js'
import { isMoved } from '../../shared/messages/moved.js'
import { AbortSignals } from '../run/abort-signals.js'
import { workerClock } from '../run/clock.js'
import type { LogSender } from '../run/log-sender.js'
import { type AnswerHead, sendFailure, sendResult } from './answer-messages.js'
import { ProgressSender } from './progress.js'
import { TaskLink } from './task-link.js'
import type { PackAnswers, WorkerTask } from './worker-task.js'

/** The most characters of a medium text. The host reads a message with such a text in about 1 ms. */
const MEDIUM_TEXT_LENGTH = 2 ** 21

/** The worker's end of its result ring, with its encoder, the host's bell and the worker's shared state. */
export class RingWriter {
  readonly ring: ResultWriter
  readonly encoder: Encoder
  readonly hostBell: HostBell
  readonly state: WorkerLaneState

  constructor(layout: WorkerStateLayout, hostBell: HostBell, state: WorkerLaneState) {
    this.ring = new ResultWriter(layout)
    this.encoder = encoderFor(layout)
    this.hostBell = hostBell
    this.state = state
  }

  /**
   * Writes a value without publishing it.
   * @param from the result of `reserve()`
   * @param sizes as for `Encoder.encode()`
   * @returns the end of the value, or what `Encoder.encode()` says; `DECLINED` also when the ring is full
   */
  write(value: unknown, from: number, sizes: LargeSizes | null = null): number {
    return from < 0 ? DECLINED : this.encoder.encode(value, from, from + LARGEST_VALUE_BYTES, sizes)
  }
}

export class WorkerAnswers implements PackAnswers {
  readonly abortSignals = new AbortSignals()
  readonly logs: LogSender
  readonly #port: HostPort
  readonly #workerId: number
  readonly #slots: number
  readonly #tickets: WorkerTickets
  readonly #writer: RingWriter | null
  /** The time on the host's clock minus the time on this thread's clock. */
  readonly #toHostClock: number
  readonly #onAnswered: () => void
  readonly #onSlotLent: () => void
  readonly #progress: ProgressSender
  /** Started tasks that came by message, by id. */
  readonly #sent = new Map<number, WorkerTask>()
  /** By task id. Only tasks that exchange messages with their callers have a link. */
  readonly #links = new Map<number, TaskLink>()
  /** Slots of tasks that wait for a function of their caller, where any task may use them until the answer. */
  lentSlots = 0
  /** The time of the last answer. */
  answeredAt = 0
  /** Tasks claimed from the lane queue and not answered. */
  #claimed = 0

  /**
   * @param writer `null`: all answers are messages
   * @param logs sends the lines of loggers by the same port
   * @param heard how many `progress` messages the host has handled
   * @param onAnswered called when a task was answered or has ended, so that the worker has room for another task
   * @param onSlotLent called when another task may use the slot of a running task
   */
  constructor(
    port: HostPort,
    workerId: number,
    slots: number,
    tickets: WorkerTickets,
    writer: RingWriter | null,
    logs: LogSender,
    toHostClock: number,
    heard: () => number,
    onAnswered: () => void,
    onSlotLent: () => void,
  ) {
    this.#port = port
    this.#workerId = workerId
    this.#slots = slots
    this.#tickets = tickets
    this.#writer = writer
    this.logs = logs
    this.#toHostClock = toHostClock
    this.#onAnswered = onAnswered
    this.#onSlotLent = onSlotLent
    this.#progress = new ProgressSender(port, heard)
  }

  get claimed(): number {
    return this.#claimed
  }

  /** Does not change the shared count, because the claim has already raised it. */
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

  /** Call it when the queue is empty. Wakes a resting host, which collects the answers and posts the next tasks. */
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

  report(task: WorkerTask, value: unknown): void {
    this.#progress.report(task, value)
  }

  linkOf(task: WorkerTask): TaskLink {
    let link = this.#links.get(task.taskId)
    if (link === undefined) {
      link = new TaskLink(task, this.#port, isWaiting => this.#lend(task, isWaiting))
      if (task.state === 'running') this.#links.set(task.taskId, link)
    }
    return link
  }

  /** The link of a running task. `undefined` when the task has ended, or has never sent a message. */
  openLink(taskId: number): TaskLink | undefined {
    return this.#links.get(taskId)
  }

  /** The host counts in the same way, see `Slots.lend()`. */
  #lend(task: WorkerTask, isWaiting: boolean): void {
    if (this.#slots > 1 && !task.isExclusive && !task.usesLentSlot) this.lentSlots += isWaiting ? 1 : -1
    // Not at once: the handler is in the middle of its work.
    if (isWaiting) workerClock.nextTurn(() => this.#onSlotLent())
  }

  #closeLink({ taskId }: WorkerTask): void {
    if (this.#links.size === 0) return
    this.#links.get(taskId)?.end()
    this.#links.delete(taskId)
  }

  /** Writes the result before it moves the ticket to `answered`, because encoding a large result may take long. */
  succeed(task: WorkerTask, result: unknown): void {
    const runMs = this.#runMsOf(task)
    const writer = this.#writer
    if (writer === null) this.#sendDirectly(task, result, runMs)
    else if (task.answersByMessage || isMoved(result)) {
      if (this.#mayAnswer(task)) this.#send(task, result, runMs)
    } else if (isInt(result)) {
      const hasRoom = writer.ring.reserve() >= 0
      if (!this.#mayAnswer(task)) return
      if (hasRoom) this.#publish(writer, INT_VALUE, task, result, runMs)
      else this.#send(task, result, runMs)
    } else {
      const from = writer.ring.reserve()
      const end = writer.write(result, from, isMediumText(result) ? null : LARGE_SIZES)
      const long = end === LARGE ? writer.encoder.takeLarge() : null
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

  /**
   * Does not ring, because the pack follows soon. After a message all answers of the pack are messages, so that they keep their order.
   * The host drops the answer of a cancelled pack.
   */
  succeedItem(pack: WorkerTask, result: unknown): void {
    if (this.#writer !== null && !pack.answersByMessage) {
      const { ring } = this.#writer
      const from = ring.reserve()
      const isShort = isInt(result)
      if (isShort && from >= 0) return this.#publishItem(INT_VALUE, pack, result)
      const end = isShort || isMoved(result) ? DECLINED : this.#writer.write(result, from)
      if (end >= 0) return this.#publishItem(BYTES_VALUE, pack, end - from)
    }
    pack.answersByMessage = true
    const problem = sendResult(
      this.#port,
      { ...this.#writeHead(pack, 0), isItem: true } as AnswerHead,
      result,
    )
    if (problem !== null) this.failItem(pack, 'result', problem.error, problem.path)
  }

  failItem(pack: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void {
    if (this.#writer !== null && !pack.answersByMessage) {
      const from = this.#writer.ring.reserve()
      const end = this.#writer.write([reason, error, path], from)
      if (end >= 0) return this.#publishItem(FAILURE, pack, end - from)
    }
    pack.answersByMessage = true
    sendFailure(this.#port, { ...this.#writeHead(pack, 0), isItem: true } as AnswerHead, reason, error, path)
  }

  #publishItem(kind: RecordKind, { ticket, taskId, startedAt }: WorkerTask, value: number): void {
    this.#writer!.ring.publish(kind, ticket, taskId, value, startedAt + this.#toHostClock, 0, true)
  }

  #send(task: WorkerTask, result: unknown, runMs: number): void {
    const problem = sendResult(this.#port, this.#writeHead(task, runMs), result)
    if (problem === null) this.#onAnswered()
    else this.#sendFailure(task, 'result', problem.error, problem.path, runMs)
  }

  /**
   * Without a ring, the time limit counts until the result is written. A host that cancels meanwhile drops the answer.
   */
  #sendDirectly(task: WorkerTask, result: unknown, runMs: number): void {
    if (this.isCancelled(task)) return void this.#mayAnswer(task)
    if (task.answersByMessage) this.#progress.flush(task)
    const problem = sendResult(this.#port, this.#writeHead(task, runMs), result)
    if (problem !== null) return this.fail(task, 'result', problem.error, problem.path)
    // Do not move the ticket: the host may have read the answer and posted the ticket again.
    task.state = 'answered'
    this.abortSignals.forget(task.taskId)
    this.#closeLink(task)
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
    if (writer !== null && !task.answersByMessage) {
      const from = writer.ring.reserve()
      const end = writer.write([reason, error, path], from)
      if (end >= 0) return this.#publish(writer, FAILURE, task, end - from, runMs)
    }
    sendFailure(this.#port, this.#writeHead(task, runMs), reason, error, path)
    this.#onAnswered()
  }

  /** Sends a result that is too large for the ring as a `LargeMessage`, which the host decodes in steps. */
  #sendLong(task: WorkerTask, message: LargeMessage, runMs: number): void {
    this.#port.postMessage(
      { kind: 'done', ...this.#writeHead(task, runMs), result: message, isLong: true },
      transferList(message),
    )
    this.#onAnswered()
  }

  #publish(writer: RingWriter, kind: RecordKind, task: WorkerTask, value: number, runMs: number): void {
    writer.ring.publish(kind, task.ticket, task.taskId, value, task.startedAt + this.#toHostClock, runMs)
    // Ring after publishing the record (pairs with announceSleep() and the host's second look).
    if (writer.hostBell.ring()) this.#say('bell')
    this.#onAnswered()
  }

  #runMsOf({ startedAt }: WorkerTask): number {
    this.answeredAt = workerClock.now()
    return this.answeredAt - startedAt
  }

  #writeHead({ taskId, ticket, startedAt }: WorkerTask, runMs: number) {
    return { taskId, ticket, startedAt: startedAt + this.#toHostClock, runMs }
  }

  /** False when the task was cancelled. Then reports to the host that the handler has finished. */
  #mayAnswer(task: WorkerTask): boolean {
    const mayAnswer = this.#tickets.answer(task.ticket, this.#workerId)
    task.state = mayAnswer ? 'answered' : 'ended'
    this.abortSignals.forget(task.taskId)
    this.#closeLink(task)
    if (task.answersByMessage) {
      if (mayAnswer) this.#progress.flush(task)
      else this.#progress.drop(task)
    }
    // Before the answer is published: a host that reads it must see this worker without the task.
    this.#remove(task)
    if (mayAnswer) return true
    // `end` is false if the host has given this worker up. Then the ticket belongs to another task, so report nothing.
    if (this.#tickets.end(task.ticket, this.#workerId)) {
      this.#say({ kind: 'task-ended', taskId: task.taskId, ticket: task.ticket })
    }
    this.#onAnswered()
    return false
  }

  /** Started and unanswered tasks that came by message, by id. */
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

/** True for a text that is fastest in a plain message. */
function isMediumText(result: unknown): boolean {
  return typeof result === 'string' && result.length <= MEDIUM_TEXT_LENGTH
}
