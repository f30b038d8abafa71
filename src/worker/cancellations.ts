// What this worker was told of tasks that are cancelled while they run here, and the signals that their handlers asked for.
// Empty unless a handler asks, or a task is cancelled.

interface Entry {
  controller: AbortController | null
  isCancelled: boolean
  reason: unknown
}

export class Cancellations {
  readonly #entries = new Map<number, Entry>()

  /** Nobody wants the answer of a task that runs here. */
  cancel(taskId: number, reason: unknown): void {
    const entry = this.#entryOf(taskId)
    entry.isCancelled = true
    entry.reason = reason
    entry.controller?.abort(reason)
  }

  isCancelled(taskId: number): boolean {
    return this.#entries.get(taskId)?.isCancelled ?? false
  }

  reasonOf(taskId: number): unknown {
    return this.#entries.get(taskId)?.reason
  }

  /** Aborts when the task, which runs here, is cancelled; or has, when it is. */
  signalOf(taskId: number): AbortSignal {
    const entry = this.#entryOf(taskId)
    if (entry.controller === null) {
      entry.controller = new AbortController()
      if (entry.isCancelled) entry.controller.abort(entry.reason)
    }
    return entry.controller.signal
  }

  /** The task does not run here any more. */
  forget(taskId: number): void {
    if (this.#entries.size > 0) this.#entries.delete(taskId)
  }

  #entryOf(taskId: number): Entry {
    let entry = this.#entries.get(taskId)
    if (entry === undefined) {
      entry = { controller: null, isCancelled: false, reason: undefined }
      this.#entries.set(taskId, entry)
    }
    return entry
  }
}
