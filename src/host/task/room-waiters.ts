// The callers of `room()` that wait, in their order. Aborting the signal of a caller ends its wait.
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { SignalWatch } from './signal-watch.js'

export class RoomWaiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
  readonly signal: AbortSignal | null

  constructor(resolve: () => void, reject: (reason: unknown) => void, signal: AbortSignal | null) {
    this.resolve = resolve
    this.reject = reject
    this.signal = signal
  }
}

export class RoomWaiters {
  readonly #waiters = new Set<RoomWaiter>()
  readonly #onRemoved: (waiter: RoomWaiter) => void
  readonly #onError: (error: unknown) => void
  readonly #signals = new SignalWatch<RoomWaiter>((waiters, signal) => {
    for (const waiter of waiters) {
      this.#remove(waiter)
      waiter.reject(new TaskCancelledError(signal.reason))
    }
  })

  /**
   * @param onRemoved called when a caller no longer waits
   * @param onError called with an error of a signal that the program wrote
   */
  constructor(
    onRemoved: (waiter: RoomWaiter) => void = () => {},
    onError: (error: unknown) => void = () => {},
  ) {
    this.#onRemoved = onRemoved
    this.#onError = onError
  }

  /** How many callers wait. */
  get size(): number {
    return this.#waiters.size
  }

  /** In the order of the calls. A waiter may be released during the loop. */
  [Symbol.iterator](): IterableIterator<RoomWaiter> {
    return this.#waiters.values()
  }

  /** @param onAdded called with the waiter, before its signal is watched */
  add(signal: AbortSignal | null, onAdded: (waiter: RoomWaiter) => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = new RoomWaiter(resolve, reject, signal)
      this.#waiters.add(waiter)
      onAdded(waiter)
      if (signal === null) return
      try {
        this.#signals.watch(signal, waiter)
      } catch (failure) {
        this.#remove(waiter)
        reject(failure)
      }
    })
  }

  /** The caller has room now. */
  release(waiter: RoomWaiter): void {
    this.#remove(waiter)
    waiter.resolve()
  }

  /** Rejects all callers that wait. */
  rejectAll(error: unknown): void {
    for (const waiter of this.#waiters) {
      this.#remove(waiter)
      waiter.reject(error)
    }
  }

  #remove(waiter: RoomWaiter): void {
    this.#waiters.delete(waiter)
    try {
      if (waiter.signal !== null) this.#signals.unwatch(waiter.signal, waiter)
    } catch (failure) {
      this.#onError(failure)
    }
    this.#onRemoved(waiter)
  }
}
