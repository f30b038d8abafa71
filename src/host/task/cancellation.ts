// Watches the signals of unsettled tasks: one listener a signal, however many tasks share it, gone with the last one.
import type { Task } from './task.js'

interface Watch {
  tasks: Set<Task>
  onAbort: () => void
}

export class Cancellation {
  readonly #watches = new Map<AbortSignal, Watch>()
  readonly #cancel: (task: Task, reason: unknown) => void

  constructor(cancel: (task: Task, reason: unknown) => void) {
    this.#cancel = cancel
  }

  watch(task: Task): void {
    const { signal } = task
    if (signal === null) return
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

  release(task: Task): void {
    const { signal } = task
    if (signal === null) return
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
    for (const task of watch.tasks) if (task.state === 'queued') this.#cancel(task, signal.reason)
    for (const task of watch.tasks) this.#cancel(task, signal.reason)
  }
}
