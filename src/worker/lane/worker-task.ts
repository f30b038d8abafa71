// A task that this worker has started, until it is answered.
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { FailureReason } from '../../shared/messages/messages.js'
import type { Cancellations } from '../run/cancellations.js'

/** The answers of a worker, as far as a task uses them. */
export interface TaskAnswers {
  readonly cancellations: Cancellations
  isCancelled(task: WorkerTask): boolean
  markLoading(task: WorkerTask, isLoading: boolean): void
  /** The task's time stops counting until the returned function is called. */
  pauseTime(task: WorkerTask): () => void
  succeed(task: WorkerTask, result: unknown): void
  fail(task: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void
}

export class WorkerTask {
  readonly taskId: number
  readonly ticket: number
  readonly handlerId: number
  readonly handler: HandlerRef
  payload: unknown
  readonly startedAt: number
  /** The task came by message; else the worker claimed it from the shared queue. */
  readonly wasSent: boolean
  /** `ended`: it was cancelled, and its answer was dropped. */
  state: 'running' | 'answered' | 'ended' = 'running'
  readonly #answers: TaskAnswers

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
    this.#answers = answers
  }

  get isCancelled(): boolean {
    return this.state === 'running' ? this.#answers.isCancelled(this) : this.state === 'ended'
  }

  get cancelReason(): unknown {
    return this.#answers.cancellations.reasonOf(this.taskId)
  }

  makeSignal(): AbortSignal {
    if (this.state === 'running') return this.#answers.cancellations.signalOf(this.taskId)
    return this.state === 'ended' ? AbortSignal.abort() : new AbortController().signal
  }

  markLoading(isLoading: boolean): void {
    this.#answers.markLoading(this, isLoading)
  }

  holdTime(): () => void {
    return this.#answers.pauseTime(this)
  }

  succeed(result: unknown): void {
    this.#answers.succeed(this, result)
  }

  fail(reason: FailureReason, error: SerializedError, path: string): void {
    this.#answers.fail(this, reason, error, path)
  }
}
