// Decides that a task is cancelled, and with which error: its signal was aborted, or a limit of its time is over.
import { type PoolError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { SignalWatch } from './signal-watch.js'
import type { Task } from './task.js'
import { TimeLimits, type TimeLimitsParts } from './time-limits.js'

export interface CancellationParts extends Omit<TimeLimitsParts, 'cancel'> {
  /** Cancels the task; with `onlyWaiting` not when a worker has begun it. */
  cancel: (task: Task, error: PoolError, onlyWaiting: boolean) => void
}

export class Cancellation {
  readonly #signals = new SignalWatch<Task>((tasks, signal) => this.#onAbort(tasks, signal))
  readonly #limits: TimeLimits
  readonly #cancel: CancellationParts['cancel']

  constructor(parts: CancellationParts) {
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
    if (task.signal !== null) this.#signals.leave(task.signal, task)
  }

  /** The pool is no more. */
  end(): void {
    this.#limits.end()
  }

  #onAbort(tasks: ReadonlySet<Task>, signal: AbortSignal): void {
    // Those that wait first: else each place that a cancelled one leaves would be given to the next to be cancelled. Still
    // watched meanwhile: cancelling one may settle another, which is then released and not visited.
    for (const task of tasks) if (task.state === 'queued') this.#abort(task, signal)
    for (const task of tasks) this.#abort(task, signal)
  }

  #abort(task: Task, signal: AbortSignal): void {
    this.#cancel(task, new TaskCancelledError(signal.reason), false)
  }
}
