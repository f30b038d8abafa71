// A task that this worker has started.
import type { Carrier } from '../../shared/context/carried.js'
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { FailureReason } from '../../shared/messages/messages.js'
import type { AsyncContext } from '../../shared/platform/async-context.js'
import type { AbortSignals } from '../run/abort-signals.js'
import type { LogSender, LogSink } from '../run/log-sender.js'
import type { TaskLink } from './task-link.js'

/** The part of `WorkerAnswers` that a task uses. */
export interface TaskAnswers {
  readonly abortSignals: AbortSignals
  readonly logs: LogSender
  isCancelled(task: WorkerTask): boolean
  markLoading(task: WorkerTask, isLoading: boolean): void
  /** The task's time stops counting until the returned function is called. */
  pauseTime(task: WorkerTask): () => void
  /** Throws `DataCloneError`. */
  report(task: WorkerTask, value: unknown): void
  linkOf(task: WorkerTask): TaskLink
  succeed(task: WorkerTask, result: unknown): void
  fail(task: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void
}

/** How a pack answers its items. */
export interface PackAnswers extends TaskAnswers {
  succeedItem(pack: WorkerTask, result: unknown): void
  failItem(pack: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void
}

export class WorkerTask {
  readonly taskId: number
  readonly ticket: number
  readonly handlerId: number
  readonly handler: HandlerRef
  payload: unknown
  readonly startedAt: number
  /** True: the task came by message. False: the worker claimed it from the lane queue. */
  readonly wasSent: boolean
  /** `ended`: the task was cancelled, and the worker dropped its answer. */
  state: 'running' | 'answered' | 'ended' = 'running'
  /** The handler has sent progress, chunks or lines of a logger. Then the answer is a message, which arrives after them. */
  answersByMessage = false
  /** The task runs alone on its worker, so it lends its slot only to the tasks that its caller's functions submit. */
  isExclusive = false
  /** The task runs in the slot of a waiting task. It cannot lend this slot to any task. */
  usesLentSlot = false
  /** The values of the carried stores of the caller. */
  carried: Carrier | null = null
  /** The async context of the handler, for the chunks of its stream. */
  scope: AsyncContext | null = null
  /** When the first time limit of the task ends, on this thread's clock. */
  deadline: number | null = null
  readonly answers: TaskAnswers

  constructor(
    taskId: number,
    ticket: number,
    handlerId: number,
    handler: HandlerRef,
    payload: unknown,
    startedAt: number,
    wasSent: boolean,
    answers: TaskAnswers,
  ) {
    this.taskId = taskId
    this.ticket = ticket
    this.handlerId = handlerId
    this.handler = handler
    this.payload = payload
    this.startedAt = startedAt
    this.wasSent = wasSent
    this.answers = answers
  }

  get isCancelled(): boolean {
    return this.state === 'running' ? this.answers.isCancelled(this) : this.state === 'ended'
  }

  get cancelReason(): unknown {
    return this.answers.abortSignals.reasonOf(this.taskId)
  }

  makeSignal(): AbortSignal {
    if (this.state === 'running') return this.answers.abortSignals.signalOf(this.taskId)
    return this.state === 'ended' ? AbortSignal.abort() : new AbortController().signal
  }

  markLoading(isLoading: boolean): void {
    this.answers.markLoading(this, isLoading)
  }

  pauseTime(): () => void {
    return this.answers.pauseTime(this)
  }

  /** Has no effect once the task is answered or cancelled. Throws `DataCloneError`. */
  report(value: unknown): void {
    if (this.state === 'running' && !this.isCancelled) this.answers.report(this, value)
  }

  /** For messages to and from the caller. Created when it is first used. */
  get link(): TaskLink {
    return this.answers.linkOf(this)
  }

  makeLogSink(): LogSink {
    return new TaskLogs(this, this.answers.logs)
  }

  succeed(result: unknown): void {
    this.answers.succeed(this, result)
  }

  fail(reason: FailureReason, error: SerializedError, path: string): void {
    this.answers.fail(this, reason, error, path)
  }
}

/** Takes the lines that the handler of a task logs. They reach the host before the task's answer. */
class TaskLogs implements LogSink {
  readonly task: WorkerTask
  readonly #sender: LogSender

  constructor(task: WorkerTask, sender: LogSender) {
    this.task = task
    this.#sender = sender
  }

  get level(): number {
    return this.#sender.level
  }

  get workerId(): number {
    return this.#sender.workerId
  }

  announce(): void {
    this.#sender.announce()
  }

  write(level: number, line: string): void {
    if (this.task.state === 'running') this.task.answersByMessage = true
    this.#sender.write(level, line)
  }

  flush(): void {
    this.#sender.flush()
  }
}
