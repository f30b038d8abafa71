// Keeps the process alive while the pool has work, and 50 ms longer. Output and messages of a worker may arrive after
// its answer. The delay also saves a ref() and an unref() call for each task.
import type { Anchor, Clock, Timer } from '../../shared/platform/clock.js'

const UNREF_DELAY_MS = 50

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

  /** Call it when the pool has work. */
  onBusy(): void {
    if (this.#unrefTimer === null) this.#anchor.hold()
  }

  /** Call it when the pool has no work. */
  onIdle(): void {
    this.#unrefTimer ??= this.#clock.after(UNREF_DELAY_MS, () => {
      this.#unrefTimer = null
      if (!this.#isBusy()) this.#anchor.release()
    })
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#unrefTimer?.cancel()
    this.#anchor.drop()
  }
}
