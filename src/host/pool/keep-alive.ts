// Keeps the process alive while the pool has something to do, and a moment longer: what a worker prints or posts beside its
// answer may arrive after the answer. The delay also saves two ref() and unref() calls for each task.
import type { Anchor, Clock, Timer } from '../../shared/platform/clock.js'

const UNREF_DELAY_MS = 10

export class KeepAlive {
  readonly #clock: Clock
  readonly #anchor: Anchor
  readonly #isBusy: () => boolean
  #unrefTimer: Timer | null = null

  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock
    this.#anchor = clock.anchor()
    this.#isBusy = isBusy
  }

  /** The pool has something to do. */
  onBusy(): void {
    if (this.#unrefTimer === null) this.#anchor.hold()
  }

  /** The pool has nothing to do, for now. */
  onIdle(): void {
    this.#unrefTimer ??= this.#clock.after(UNREF_DELAY_MS, () => {
      this.#unrefTimer = null
      if (!this.#isBusy()) this.#anchor.release()
    })
  }

  /** The pool is closed. */
  end(): void {
    this.#unrefTimer?.cancel()
    this.#anchor.drop()
  }
}
