// A short look for the next task before the worker goes back to its event loop. Being woken from there costs several times
// what a small task costs. Spinning has manners: only with a core to spare, a moment at a time, and not where it has proved
// useless.
import { pause } from '#atomics'
import { AdaptiveSpin } from '../shared/platform/adaptive-spin.js'
import { realClock } from './clock.js'

/** Long enough for a host that was asleep to read an answer of some tens of kilobytes and to post the next task. */
const LONGEST_SPIN_MS = 0.1
/** So many looks for one at the clock: each makes a number on the heap, and an idle worker is to stay small. */
const LOOKS_A_TIME = 64
/** A worker that slept was woken as well in this time. */
const LONGEST_GAP_MS = 0.3

export class Spinner {
  readonly #isAllowed: () => boolean
  readonly #patience = new AdaptiveSpin(LONGEST_GAP_MS)
  /** Since when there has been nothing to do; 0: there is. */
  #idleSince = 0

  /** @param isAllowed says whether there is a core to spare */
  constructor(isAllowed: () => boolean) {
    this.#isAllowed = isAllowed
  }

  /** There is nothing to do: true when `hasCome` became true within a moment. */
  lookOut(hasCome: () => boolean): boolean {
    if (this.#idleSince > 0) return false
    this.#idleSince = realClock.now()
    if (!this.#isAllowed() || !this.#patience.shouldSpin()) return false
    const end = this.#idleSince + LONGEST_SPIN_MS
    do {
      for (let look = 0; look < LOOKS_A_TIME; look++) {
        if (hasCome()) return true
        pause()
      }
    } while (realClock.now() < end)
    return false
  }

  /** There is something to do again, unless there was before. */
  onWork(): void {
    if (this.#idleSince === 0) return
    this.#patience.onGap(realClock.now() - this.#idleSince)
    this.#idleSince = 0
  }
}
