// An estimate of how long the tasks of each handler take, rather too long than too short: a long run counts at once, short runs
// lower the estimate little by little.

/** Handlers whose run times are kept. */
const MAX_HANDLERS = 256
const UNKNOWN = Number.POSITIVE_INFINITY
const SHARE_OF_LATEST = 1 / 16

export class RunTimes {
  readonly #estimateMs = new Float64Array(MAX_HANDLERS).fill(UNKNOWN)

  /** `Infinity` for a handler that has not answered yet. */
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
