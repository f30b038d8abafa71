/** The members of an `AbortSignal` that the pool of lido uses, for one listener. A real one takes several microseconds for each call. */
export class CallSignal {
  aborted = false
  reason: unknown
  #listener: (() => void) | null = null

  addEventListener(_name: 'abort', listener: () => void): void {
    this.#listener = listener
  }

  removeEventListener(): void {
    this.#listener = null
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#listener?.()
  }
}
