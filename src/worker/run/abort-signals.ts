// Keeps the cancelled tasks of this worker, and the abort signals that handlers have read.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

interface Entry {
  signal: AbortSignal | null
  /** Calls the listeners of the signal in the async context in which the handler first read it. */
  abort: ((reason: unknown) => void) | null
  isCancelled: boolean
  reason: unknown
}

export class AbortSignals {
  readonly #entries = new Map<number, Entry>()

  /** The host cancelled a running task. */
  cancel(taskId: number, reason: unknown): void {
    const entry = this.#entryOf(taskId)
    entry.isCancelled = true
    entry.reason = reason
    entry.abort?.(reason)
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
    if (entry.signal === null) {
      const { AsyncResource } = getBuiltinModule('node:async_hooks')
      const controller = new AbortController()
      entry.signal = controller.signal
      entry.abort = AsyncResource.bind((reason: unknown) => controller.abort(reason))
      if (entry.isCancelled) controller.abort(entry.reason)
    }
    return entry.signal
  }

  /** Call it when the task has finished. */
  forget(taskId: number): void {
    if (this.#entries.size > 0) this.#entries.delete(taskId)
  }

  #entryOf(taskId: number): Entry {
    let entry = this.#entries.get(taskId)
    if (entry === undefined) {
      entry = { signal: null, abort: null, isCancelled: false, reason: undefined }
      this.#entries.set(taskId, entry)
    }
    return entry
  }
}
