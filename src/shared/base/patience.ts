// Whether to wait awake for what comes soon. It pays where the gaps are short; after some long ones in a row it is left out,
// but for a try now and then. Gaps are measured whether one waited awake or not, so a change is noticed either way.

/** Long gaps in a row, after which one no longer waits awake. */
const PATIENCE = 8
/** After so many gaps slept through, one more try. */
const TRY_AGAIN_AFTER = 16

export class Patience {
  readonly #longestGapMs: number
  #longGaps = 0
  #slept = 0

  /** @param longestGapMs the longest gap that is worth waiting awake for */
  constructor(longestGapMs: number) {
    this.#longestGapMs = longestGapMs
  }

  /** To be asked once for each gap. */
  isWorthWaiting(): boolean {
    if (this.#longGaps < PATIENCE) return true
    if (++this.#slept < TRY_AGAIN_AFTER) return false
    this.#slept = 0
    return true
  }

  onGap(gapMs: number): void {
    if (gapMs <= this.#longestGapMs) this.#longGaps = 0
    else this.#longGaps++
  }
}
