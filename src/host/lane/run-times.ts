// Estimates the run time of each handler's tasks. The estimate is rather too long than too short: a longer run replaces
// it at once, and each shorter run lowers it by a sixteenth of the difference.

/** Handlers with higher numbers have no estimate. */
const MAX_HANDLERS = 256
const UNKNOWN = Number.POSITIVE_INFINITY
const SHARE_OF_LATEST = 1 / 16

export class RunTimes {
  readonly #estimateMs = new Float64Array(MAX_HANDLERS).fill(UNKNOWN)

  /** `Infinity` for a handler without an answer so far. */
  of(handlerId: number): number {
    return this.#estimateMs[handlerId] ?? UNKNOWN
  }

  note(handlerId: number, runMs: number): void {
    const estimateMs = this.of(handlerId)
    const isLongest = runMs > estimateMs || estimateMs === UNKNOWN
    // A write beyond the end of the array does nothing.
    this.#estimateMs[handlerId] = isLongest ? runMs : estimateMs - (estimateMs - runMs) * SHARE_OF_LATEST
  }
}
