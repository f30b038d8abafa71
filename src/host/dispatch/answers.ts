// From a worker's answer to the caller's.

import type { LargeMessage } from '../../shared/codec/format.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import { NotCloneableError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import {
  deserializeError,
  type ErrorClasses,
  type SerializedError,
} from '../../shared/errors/serialize-error.js'
import type { FailureReason } from '../../shared/messages/messages.js'
import { unreachable } from '../../shared/platform/invariant.js'
import type { Timings } from '../metrics/timings.js'
import { AGAIN } from '../task/retry.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { RestartPolicy } from '../workers/restart-policy.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Arrivals } from './arrivals.js'
import type { HandlerTable } from './handler-table.js'

export interface Failure {
  reason: FailureReason
  error: SerializedError
  path: string
}

export interface AnswersParts {
  settler: Settler
  arrivals: Arrivals
  policy: RestartPolicy
  handlers: HandlerTable
  timings: Timings | null
  /** Tasks that the user's code is asked about. */
  failed: Set<Task>
  /** Puts a task back to where it stood. */
  runAgain: (task: Task) => void
  errorClasses: ErrorClasses
}

export class Answers {
  readonly #parts: AnswersParts

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  fulfil(worker: WorkerHandle, task: Task, result: unknown, runMs: number): void {
    this.#onAnswered(worker, task, runMs)
    this.#parts.settler.fulfil(task, result)
  }

  /** A result too large to be read at once: the worker is done with the task, the caller is answered when it is read. */
  arrive(worker: WorkerHandle, task: Task, message: LargeMessage, shapes: ShapeReader, runMs: number): void {
    this.#onAnswered(worker, task, runMs)
    this.#parts.arrivals.add(task, message, shapes)
  }

  fail(worker: WorkerHandle, task: Task, { reason, error: packed, path }: Failure, runMs: number): void {
    const { handlers, settler, errorClasses, failed, runAgain } = this.#parts
    this.#onAnswered(worker, task, runMs)
    // The user's code is asked: it may cancel the task, which no worker has any more.
    moveTask(task, 'failed')
    failed.add(task)
    const error = deserializeError(packed, errorClasses)
    const verdict = reason === 'thrown' && task.retry !== null ? task.retry.afterFailure(error) : error
    failed.delete(task)
    if (task.state !== 'failed') return
    switch (reason) {
      case 'thrown':
        return verdict === AGAIN ? runAgain(task) : settler.reject(task, verdict)
      case 'result':
        return settler.reject(task, new NotCloneableError(path, error))
      case 'load':
      case 'missing': {
        handlers.forget(task)
        const stage = reason === 'load' ? 'load' : 'handler'
        return settler.reject(task, new WorkerStartError(worker.id, task, stage, error))
      }
      default:
        return unreachable(reason)
    }
  }

  /** One side could not read what the other had sent. */
  failUnreadable(worker: WorkerHandle, task: Task, what: 'payload' | 'result', runMs: number): void {
    const text =
      what === 'payload'
        ? 'The worker could not read it; it may be nested too deeply.'
        : 'It could not be read here; it may be nested too deeply.'
    this.#onAnswered(worker, task, runMs)
    this.#parts.settler.reject(task, new NotCloneableError(what, new RangeError(text)))
  }

  #onAnswered(worker: WorkerHandle, task: Task, runMs: number): void {
    const { handlers, policy, timings } = this.#parts
    worker.answers++
    handlers.prove(task.handlerId)
    policy.onWorkDone()
    timings?.record(task.assignedAt! - task.createdAt, runMs)
    worker.histogram?.record(runMs)
  }
}
