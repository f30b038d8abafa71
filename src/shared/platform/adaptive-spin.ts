// Decides whether to busy-wait for the next event. Busy-waiting helps when the gaps between events are short. After
// several long gaps in a row the caller sleeps instead, and tries again regularly. Both kinds of gaps count, so the
// decision adapts.

/** Long gaps in a row after which the caller sleeps instead. */
const MAX_LONG_GAPS = 8
/** After this many gaps in sleep, the caller busy-waits once to try again. */
const TRY_AGAIN_AFTER = 16

export class AdaptiveSpin {
  readonly #longestGapMs: number
  #longGaps = 0
  #sleptGaps = 0

  /** @param longestGapMs the longest gap that is worth a busy-wait */
  constructor(longestGapMs: number) {
    this.#longestGapMs = longestGapMs
  }

  /** Call it once for each gap. */
  shouldSpin(): boolean {
    if (this.#longGaps < MAX_LONG_GAPS) return true
    if (++this.#sleptGaps < TRY_AGAIN_AFTER) return false
    this.#sleptGaps = 0
    return true
  }

  onGap(gapMs: number): void {
    if (gapMs <= this.#longestGapMs) this.#longGaps = 0
    else this.#longGaps++
  }
}
