// How long the tasks of a handler keep a worker, as far as its last answers tell: rather too long than too short. A long one is
// believed at once, short ones little by little.

/** Handlers whose times are kept. */
const MOST_HANDLERS = 256
const UNKNOWN = Number.POSITIVE_INFINITY
const SHARE_OF_LATEST = 1 / 16

export class RunTimes {
  readonly #longMs = new Float64Array(MOST_HANDLERS).fill(UNKNOWN)

  /** Of a handler that has not answered: `Infinity`. */
  of(handlerId: number): number {
    return this.#longMs[handlerId] ?? UNKNOWN
  }

  note(handlerId: number, runMs: number): void {
    const longMs = this.of(handlerId)
    const isLatest = runMs > longMs || longMs === UNKNOWN
    // Beyond the last of them nothing is kept.
    this.#longMs[handlerId] = isLatest ? runMs : longMs - (longMs - runMs) * SHARE_OF_LATEST
  }
}
