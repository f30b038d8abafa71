// Settles the promises of accepted tasks. No other file does.
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { Outcome } from '../metrics/task-metrics.js'
import { Rejection } from './rejection.js'
import type { Task } from './task.js'
import type { TaskEnds } from './task-ends.js'
import { moveTask } from './task-life.js'
import type { TracedTasks } from './traced-tasks.js'

export interface SettleListener {
  onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void
}

export class Settler {
  /** Tasks that could not finish because the pool closed. */
  cutOffCount = 0
  readonly #listener: SettleListener
  readonly #traced: TracedTasks
  readonly #ends: TaskEnds
  readonly #failures = new Map<Task, AbortController>()

  constructor(listener: SettleListener, traced: TracedTasks, ends: TaskEnds) {
    this.#listener = listener
    this.#traced = traced
    this.#ends = ends
  }

  /** The promise resolves to this value at once. The answer of the task goes to `onAnswer`. */
  resolveEarly(task: Task, value: unknown, onAnswer: (answer: unknown) => void): void {
    task.resolve(value)
    task.resolve = onAnswer
  }

  /** Aborts when the task fails or is cancelled, with the reason. */
  failureOf(task: Task): AbortSignal {
    let controller = this.#failures.get(task)
    if (controller === undefined) {
      controller = new AbortController()
      this.#failures.set(task, controller)
    }
    return controller.signal
  }

  fulfil(task: Task, result: unknown): void {
    this.#settle(task, 'fulfilled', result)
  }

  reject(task: Task, reason: unknown): void {
    this.#settle(task, 'rejected', reason)
  }

  /** Rejects a task that cannot finish because the pool closes. */
  cutOff(task: Task, error: PoolError): void {
    this.cutOffCount++
    this.#settle(task, 'rejected', error)
  }

  cancel(task: Task, reason: unknown): void {
    this.#settle(task, 'cancelled', reason)
  }

  /** Settles the promise even if the listener throws. */
  #settle(task: Task, outcome: Outcome, answer: unknown): void {
    const wasAssigned = task.state !== 'queued' || task.retry?.hasRun === true
    moveTask(task, 'settled')
    try {
      this.#listener.onSettled(task, outcome, wasAssigned)
    } finally {
      const settled = outcome === 'fulfilled' ? answer : new Rejection(answer)
      if (task.traced === null) task.resolve(settled)
      else this.#traced.settle(task, task.traced, outcome, answer, settled)
      if (this.#failures.size > 0) this.#abort(task, outcome, answer)
      if (this.#ends.listener !== null) this.#ends.onSettled(task)
    }
  }

  #abort(task: Task, outcome: Outcome, answer: unknown): void {
    const controller = this.#failures.get(task)
    this.#failures.delete(task)
    if (outcome !== 'fulfilled') controller?.abort(answer)
  }
}
