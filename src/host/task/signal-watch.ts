// One listener a signal, however many share it, gone with the last one.

interface Watched<Item> {
  items: Set<Item>
  onAbort: () => void
}

export class SignalWatch<Item> {
  readonly #watched = new Map<AbortSignal, Watched<Item>>()
  readonly #onAbort: (items: ReadonlySet<Item>, signal: AbortSignal) => void

  /** @param onAbort called with those that share the signal, which may leave meanwhile */
  constructor(onAbort: (items: ReadonlySet<Item>, signal: AbortSignal) => void) {
    this.#onAbort = onAbort
  }

  /** Throws what a signal of the user's own making throws; then the item is still to leave. */
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
    // Without options: theirs would be read with what somebody put on the prototype that all objects share.
    signal.addEventListener('abort', onAbort)
  }

  /** Throws what a signal of the user's own making throws; the item has left all the same. */
  leave(signal: AbortSignal, item: Item): void {
    const watched = this.#watched.get(signal)
    if (watched === undefined || !watched.items.delete(item) || watched.items.size > 0) return
    this.#watched.delete(signal)
    signal.removeEventListener('abort', watched.onAbort)
  }
}
