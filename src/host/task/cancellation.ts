// Decides that a task is cancelled, and with which error: its signal was aborted, or a limit of its time is over. One
// listener a signal, however many tasks share it, gone with the last one.
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import type { Task } from './task.js'
import { TimeLimits, type TimeLimitsParts } from './time-limits.js'

interface Watch {
  tasks: Set<Task>
  onAbort: () => void
}

export interface CancellationParts extends Omit<TimeLimitsParts, 'cancel'> {
  /** Cancels the task; with `onlyWaiting` not when a worker has begun it. */
  cancel: (task: Task, error: TaskCancelledError, onlyWaiting: boolean) => void
}

export class Cancellation {
  readonly #watches = new Map<AbortSignal, Watch>()
  readonly #limits: TimeLimits
  readonly #cancel: CancellationParts['cancel']

  constructor(parts: CancellationParts) {
    this.#limits = new TimeLimits(parts)
    this.#cancel = parts.cancel
  }

  watch(task: Task): void {
    const { limits } = task.terms
    if (limits !== null) task.timeLimit = this.#limits.watch(task, limits)
    if (task.signal !== null) this.#listenTo(task.signal, task)
  }

  release(task: Task): void {
    if (task.timeLimit !== null) this.#limits.release(task.timeLimit)
    if (task.signal !== null) this.#leave(task.signal, task)
  }

  /** The pool is no more. */
  end(): void {
    this.#limits.end()
  }

  #listenTo(signal: AbortSignal, task: Task): void {
    const known = this.#watches.get(signal)
    if (known !== undefined) {
      known.tasks.add(task)
      return
    }
    const watch: Watch = { tasks: new Set([task]), onAbort: () => this.#onAbort(signal) }
    this.#watches.set(signal, watch)
    // Without options: theirs would be read with what somebody put on the prototype that all objects share.
    signal.addEventListener('abort', watch.onAbort)
  }

  #leave(signal: AbortSignal, task: Task): void {
    const watch = this.#watches.get(signal)
    if (watch === undefined || !watch.tasks.delete(task) || watch.tasks.size > 0) return
    this.#watches.delete(signal)
    signal.removeEventListener('abort', watch.onAbort)
  }

  #onAbort(signal: AbortSignal): void {
    const watch = this.#watches.get(signal)
    if (watch === undefined) return
    // Those that wait first: else each place that a cancelled one leaves would be given to the next to be cancelled. Still
    // watched meanwhile: cancelling one may settle another, which is then released and not visited.
    for (const task of watch.tasks) if (task.state === 'queued') this.#abort(task, signal)
    for (const task of watch.tasks) this.#abort(task, signal)
  }

  #abort(task: Task, signal: AbortSignal): void {
    this.#cancel(task, new TaskCancelledError(signal.reason), false)
  }
}
