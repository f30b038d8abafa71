// Keeps the process alive while the pool has something to do, and a moment longer: what a worker said beside its answer,
// on its parent port or its streams, is still under way then. The moment also spares each task the two switches.
import type { Anchor, Clock, Timer } from '../../shared/platform/clock.js'

const AFTERGLOW_MS = 10

export class Liveness {
  readonly #clock: Clock
  readonly #anchor: Anchor
  readonly #isBusy: () => boolean
  #afterglow: Timer | null = null

  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock
    this.#anchor = clock.anchor()
    this.#isBusy = isBusy
  }

  /** The pool has something to do. */
  onBusy(): void {
    if (this.#afterglow === null) this.#anchor.hold()
  }

  /** The pool has nothing to do, for now. */
  onIdle(): void {
    this.#afterglow ??= this.#clock.after(AFTERGLOW_MS, () => {
      this.#afterglow = null
      if (!this.#isBusy()) this.#anchor.release()
    })
  }

  /** The pool is no more. */
  end(): void {
    this.#afterglow?.cancel()
    this.#anchor.drop()
  }
}
