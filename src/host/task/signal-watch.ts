// Adds one listener to each signal, however many items share the signal. Removes it with the last item.

interface Watched<Item> {
  items: Set<Item>
  onAbort: () => void
}

export class SignalWatch<Item> {
  readonly #watched = new Map<AbortSignal, Watched<Item>>()
  readonly #onAbort: (items: ReadonlySet<Item>, signal: AbortSignal) => void

  /** @param onAbort called with the items that share the signal; it may unwatch them during the call */
  constructor(onAbort: (items: ReadonlySet<Item>, signal: AbortSignal) => void) {
    this.#onAbort = onAbort
  }

  /**
   * Throws the error of a signal that the user wrote. The item is still watched then, so the caller must unwatch it.
   */
  watch(signal: AbortSignal, item: Item): void {
    const known = this.#watched.get(signal)
    if (known !== undefined) {
      known.items.add(item)
      return
    }
    const items = new Set([item])
    const onAbort = () => {
      if (this.#watched.get(signal)?.items === items) this.#onAbort(items, signal)
    }
    this.#watched.set(signal, { items, onAbort })
    // Without an options object: a program may have added properties to `Object.prototype`, and Node would read them.
    signal.addEventListener('abort', onAbort)
  }

  /** Throws the error of a signal that the user wrote. The item is no longer watched then. */
  unwatch(signal: AbortSignal, item: Item): void {
    const watched = this.#watched.get(signal)
    if (watched === undefined || !watched.items.delete(item) || watched.items.size > 0) return
    this.#watched.delete(signal)
    signal.removeEventListener('abort', watched.onAbort)
  }
}
