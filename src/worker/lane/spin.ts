// A short busy-wait for the next task before the worker returns to its event loop. Waking a worker from there costs several times
// what a small task costs. The worker busy-waits only while a core is spare, for a moment, and not where it has proved useless.
import { pause } from '#atomics'
import { AdaptiveSpin } from '../../shared/platform/adaptive-spin.js'
import { workerClock } from '../run/clock.js'

/** Long enough for a sleeping host to read an answer of some tens of kilobytes and to post the next task. */
const LONGEST_SPIN_MS = 0.1
/** Checks between two looks at the clock: each look makes a number on the heap, and an idle worker is to stay small. */
const CHECKS_PER_LOOK = 64
/** Waking a sleeping worker takes about this long. */
const LONGEST_GAP_MS = 0.3

export class Spin {
  readonly #isAllowed: () => boolean
  readonly #adaptive = new AdaptiveSpin(LONGEST_GAP_MS)
  /** Since when there is nothing to do; 0: there is something. */
  #idleSince = 0

  /** @param isAllowed tells whether a core is spare */
  constructor(isAllowed: () => boolean) {
    this.#isAllowed = isAllowed
  }

  /** True when `hasWork` became true within a moment. */
  waitFor(hasWork: () => boolean): boolean {
    if (this.#idleSince > 0) return false
    this.#idleSince = workerClock.now()
    if (!this.#isAllowed() || !this.#adaptive.shouldSpin()) return false
    const end = this.#idleSince + LONGEST_SPIN_MS
    do {
      for (let check = 0; check < CHECKS_PER_LOOK; check++) {
        if (hasWork()) return true
        pause()
      }
    } while (workerClock.now() < end)
    return false
  }

  /** There is something to do again. */
  onWork(): void {
    if (this.#idleSince === 0) return
    this.#adaptive.onGap(workerClock.now() - this.#idleSince)
    this.#idleSince = 0
  }
}
