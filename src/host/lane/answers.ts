// Settles a task with the answer of its worker, or puts a failed task back into the queue when `retry` allows it.

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
import type { DurationMetrics } from '../metrics/duration-metrics.js'
import type { HandlerTasks } from '../metrics/handler-tasks.js'
import { AGAIN } from '../task/retry.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { TracedTasks } from '../task/traced-tasks.js'
import type { KeyWorkers } from '../workers/key-workers.js'
import type { RestartPolicy } from '../workers/restart-policy.js'
import type { Worker } from '../workers/worker.js'
import type { HandlerRegistry } from './handler-registry.js'
import type { LargeResults } from './large-results.js'

export interface Failure {
  reason: FailureReason
  error: SerializedError
  path: string
}

export interface AnswersParts {
  settler: Settler
  largeResults: LargeResults
  policy: RestartPolicy
  handlers: HandlerRegistry
  handlerTasks: HandlerTasks
  durationMetrics: DurationMetrics | null
  /** Tasks for which the host calls `retry.when` now. */
  failed: Set<Task>
  /** Puts the task back into the queue at its old place. */
  runAgain: (task: Task) => void
  errorClasses: ErrorClasses
  traced: TracedTasks
  keyWorkers: KeyWorkers
  /** Gets the run time of each answered task. `null` without the option `groups`. */
  groups: { onAnswered(task: Task, runMs: number): void } | null
}

export class Answers {
  readonly #parts: AnswersParts

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  fulfil(worker: Worker, task: Task, result: unknown, runMs: number): void {
    this.#onAnswered(worker, task, runMs)
    this.#parts.settler.fulfil(task, result)
  }

  /**
   * The result is too large to be decoded in one turn. The worker is free; the promise settles after the last slice.
   */
  fulfilLarge(worker: Worker, task: Task, message: LargeMessage, shapes: ShapeReader, runMs: number): void {
    this.#onAnswered(worker, task, runMs)
    this.#parts.largeResults.add(task, message, shapes)
  }

  fail(worker: Worker, task: Task, { reason, error: packed, path }: Failure, runMs: number): void {
    const { handlers, settler, errorClasses, failed, runAgain } = this.#parts
    this.#onAnswered(worker, task, runMs)
    // No worker has the task any more. `retry.when` is user code: it may cancel the task.
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
        if (reason === 'load')
          return settler.reject(task, new WorkerStartError(worker.id, task, 'load', error))
        const exports: readonly string[] = Array.isArray(error) ? error : []
        return settler.reject(task, new WorkerStartError(worker.id, task, 'handler', undefined, exports))
      }
      default:
        return unreachable(reason)
    }
  }

  /** The worker could not read the payload, or the host could not read the result. */
  failUnreadable(worker: Worker, task: Task, what: 'payload' | 'result', runMs: number): void {
    const text =
      what === 'payload'
        ? 'The worker could not read it. It may be nested too deeply.'
        : 'The host could not read it. It may be nested too deeply.'
    this.#onAnswered(worker, task, runMs)
    this.#parts.settler.reject(task, new NotCloneableError(what, new RangeError(text)))
  }

  #onAnswered(worker: Worker, task: Task, runMs: number): void {
    const { policy, handlerTasks, durationMetrics, keyWorkers, traced, groups } = this.#parts
    worker.answers++
    worker.runMs += runMs
    worker.freedAt = task.assignedAt! + runMs
    policy.onWorkDone()
    if (durationMetrics !== null) {
      const handler = handlerTasks.of(task.handlerId, task.terms.handler)
      durationMetrics.record(handler, task.assignedAt! - task.createdAt, runMs)
    }
    worker.histogram?.record(runMs)
    if (task.terms.key !== null) keyWorkers.bind(task.terms.key, worker.id)
    if (groups !== null) groups.onAnswered(task, runMs)
    if (task.traced !== null) traced.onAnswered(task, worker, runMs)
  }
}
