// Keeps the cancelled tasks of this worker, and the abort signals that handlers have read.

interface Entry {
  controller: AbortController | null
  isCancelled: boolean
  reason: unknown
}

export class Cancellations {
  readonly #entries = new Map<number, Entry>()

  /** The host cancelled a running task. */
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

  /** The signal of a running task. Already aborted if the task was cancelled before. */
  signalOf(taskId: number): AbortSignal {
    const entry = this.#entryOf(taskId)
    if (entry.controller === null) {
      entry.controller = new AbortController()
      if (entry.isCancelled) entry.controller.abort(entry.reason)
    }
    return entry.controller.signal
  }

  /** Call it when the task has finished. */
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
