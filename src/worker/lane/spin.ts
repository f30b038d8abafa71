// A short busy-wait for the next task before the worker returns to its event loop. Waking a worker from its event loop
// costs several times as much as a small task. The worker busy-waits at most 0.1 ms, only while a core is idle, and
// rarely if it did not help before.
import { pause } from '#atomics'
import { AdaptiveSpin } from '../../shared/platform/adaptive-spin.js'
import { workerClock } from '../run/clock.js'

/** Long enough for a sleeping host to read an answer of some tens of kilobytes and to post the next task. */
const LONGEST_SPIN_MS = 0.1
/** Checks for work between two clock reads. Each read allocates a number, and an idle worker should allocate little. */
const CHECKS_PER_CLOCK_READ = 64
/** Waking a sleeping worker takes about this long. */
const LONGEST_GAP_MS = 0.3

export class Spin {
  readonly #isAllowed: () => boolean
  readonly #adaptive = new AdaptiveSpin(LONGEST_GAP_MS)
  /** The start of the current idle time; 0 while the worker has work. */
  #idleSince = 0

  /** @param isAllowed returns true while a core is idle */
  constructor(isAllowed: () => boolean) {
    this.#isAllowed = isAllowed
  }

  /** Busy-waits and returns true if `hasWork` becomes true. Returns false at once if busy-waiting is not useful now. */
  waitFor(hasWork: () => boolean): boolean {
    if (this.#idleSince > 0) return false
    this.#idleSince = workerClock.now()
    if (!this.#isAllowed() || !this.#adaptive.shouldSpin()) return false
    const end = this.#idleSince + LONGEST_SPIN_MS
    do {
      for (let check = 0; check < CHECKS_PER_CLOCK_READ; check++) {
        if (hasWork()) return true
        pause()
      }
    } while (workerClock.now() < end)
    return false
  }

  /** Call it when the worker has work again. */
  onWork(): void {
    if (this.#idleSince === 0) return
    this.#adaptive.onGap(workerClock.now() - this.#idleSince)
    this.#idleSince = 0
  }
}
