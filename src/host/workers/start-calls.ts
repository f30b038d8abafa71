// The calls that each new worker runs before its first task. A newer one of the same function
// replaces an older one. The caller's signal ends one.
import type { KnownHandler, StartCall } from '../../shared/messages/messages.js'
import { SignalWatch } from '../task/signal-watch.js'

interface PayloadHolder {
  /** Keeps what the payload carries. Returns a function that ends it. */
  hold(payload: unknown): () => void
}

interface Kept {
  readonly call: StartCall
  readonly signal: AbortSignal | null
  readonly letGo: () => void
}

export class StartCalls {
  readonly #payloads: PayloadHolder
  readonly #onFailure: (failure: unknown) => void
  /** In the order of the calls. The key names the function. */
  readonly #kept = new Map<string, Kept>()
  readonly #signals = new SignalWatch<string>(keys => {
    for (const key of keys) this.#remove(key)
  })

  /** @param onFailure called with an error of a signal that the user wrote */
  constructor(payloads: PayloadHolder, onFailure: (failure: unknown) => void) {
    this.#payloads = payloads
    this.#onFailure = onFailure
  }

  /** The calls for a new worker, in order. */
  get calls(): StartCall[] {
    return [...this.#kept.values()].map(({ call }) => call)
  }

  /** @param payload a copy that no other code changes */
  keep({ handlerId, handler }: KnownHandler, payload: unknown, signal: AbortSignal | null): void {
    const key = JSON.stringify([handler.filename, handler.name])
    this.#remove(key)
    const letGo = this.#payloads.hold(payload)
    this.#kept.set(key, { call: { handlerId, handler, payload }, signal, letGo })
    try {
      if (signal !== null) this.#signals.watch(signal, key)
    } catch (failure) {
      this.#remove(key)
      throw failure
    }
  }

  /** Call it when the pool is closed. */
  end(): void {
    for (const key of this.#kept.keys()) this.#remove(key)
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    kept.letGo()
    try {
      if (kept.signal !== null) this.#signals.unwatch(kept.signal, key)
    } catch (failure) {
      this.#onFailure(failure)
    }
  }
}
