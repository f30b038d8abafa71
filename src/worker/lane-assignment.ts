// A task from the lane, on its way to an answer.

import type { SerializedError } from '../shared/errors/serialize-error.js'
import type { Handler } from '../shared/messages/handler.js'
import type { FailureReason } from '../shared/messages/messages.js'
import { keepShape } from '../shared/platform/shapes.js'
import type { Assignment, AssignmentState } from './assignment.js'
import type { LaneAnswers } from './lane-answers.js'

export class LaneAssignment implements Assignment {
  readonly taskId: number
  readonly ticket: number
  readonly handlerId: number
  readonly handler: Handler
  payload: unknown
  readonly startedAt: number
  state: AssignmentState = 'running'
  readonly #answers: LaneAnswers

  constructor(
    taskId: number,
    ticket: number,
    handlerId: number,
    handler: Handler,
    payload: unknown,
    startedAt: number,
    answers: LaneAnswers,
  ) {
    this.taskId = taskId
    this.ticket = ticket
    this.handlerId = handlerId
    this.handler = handler
    this.payload = payload
    this.startedAt = startedAt
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
    return this.#answers.holdTime(this)
  }

  succeed(result: unknown): void {
    this.#answers.succeed(this, result)
  }

  fail(reason: FailureReason, error: SerializedError, path: string): void {
    this.#answers.fail(this, reason, error, path)
  }
}

keepShape(new LaneAssignment(0, 0, 0, { filename: '', name: '' }, null, 0.5, {} as LaneAnswers))
