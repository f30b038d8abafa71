// A short look for the next task before the worker goes back to its event loop. Being woken from there costs several times
// what a small task costs. Spinning has manners: only with a core to spare, a moment at a time, one task at a time (the
// event loop turns between any two), and not where it has proved useless.
import { pause, type SharedWords } from '../shared/base/atomics.js'
import { realClock } from '../shared/base/clock.js'
import { maySpin, postCount } from '../shared/channel/claims.js'

/** Long enough for a host that was asleep to read an answer of some tens of kilobytes and to post the next task. */
const LONGEST_SPIN_MS = 0.1
/** Looks in a row that found nothing, after which the next are left out. */
const PATIENCE = 8
/** After so many left out, one more look. */
const LOOK_AGAIN_AFTER = 16

export class Spinner {
  readonly #claims: SharedWords
  #failures = 0
  #leftOut = 0

  constructor(claims: SharedWords) {
    this.#claims = claims
  }

  /** Returns when a task was posted beyond the `received` first ones, or after a moment. */
  lookOut(received: number): void {
    if (!maySpin(this.#claims) || this.#isHopeless()) return
    const end = realClock.now() + LONGEST_SPIN_MS
    while (postCount(this.#claims) === received) {
      if (realClock.now() >= end) {
        this.#failures++
        return
      }
      pause()
    }
    this.#failures = 0
  }

  #isHopeless(): boolean {
    if (this.#failures < PATIENCE) return false
    if (++this.#leftOut < LOOK_AGAIN_AFTER) return true
    this.#leftOut = 0
    return false
  }
}
