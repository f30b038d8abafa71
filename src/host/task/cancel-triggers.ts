// Cancels a task when its signal aborts or one of its time limits passes, and chooses the error.
import { type PoolError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { SignalWatch } from './signal-watch.js'
import type { Task } from './task.js'
import { TimeLimits, type TimeLimitsParts } from './time-limits.js'

export interface CancelTriggersParts extends Omit<TimeLimitsParts, 'cancel'> {
  /** Cancels the task. With `onlyUnstarted`, a task that a worker has started runs on. */
  cancel: (task: Task, error: PoolError, onlyUnstarted: boolean) => void
}

export class CancelTriggers {
  readonly #signals = new SignalWatch<Task>((tasks, signal) => this.#onAbort(tasks, signal))
  readonly #limits: TimeLimits
  readonly #cancel: CancelTriggersParts['cancel']

  constructor(parts: CancelTriggersParts) {
    this.#limits = new TimeLimits(parts)
    this.#cancel = parts.cancel
  }

  watch(task: Task): void {
    const { limits } = task.terms
    if (limits !== null) task.timeLimit = this.#limits.watch(task, limits)
    if (task.signal !== null) this.#signals.watch(task.signal, task)
  }

  release(task: Task): void {
    if (task.timeLimit !== null) this.#limits.release(task.timeLimit)
    if (task.signal !== null) this.#signals.unwatch(task.signal, task)
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#limits.end()
  }

  #onAbort(tasks: ReadonlySet<Task>, signal: AbortSignal): void {
    // Queued tasks first. Otherwise a cancelled running task would free a slot for a queued task that is cancelled
    // next. All tasks stay in the set until they settle: if cancelling one task settles another, the loop skips that
    // one.
    for (const task of tasks) if (task.state === 'queued') this.#abort(task, signal)
    for (const task of tasks) this.#abort(task, signal)
  }

  #abort(task: Task, signal: AbortSignal): void {
    this.#cancel(task, new TaskCancelledError(signal.reason), false)
  }
}
