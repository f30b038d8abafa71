// How long the tasks of a handler keep a worker, as far as its last answers tell: rather too long than too short. A long one is
// believed at once, short ones little by little.

/** Handlers whose times are kept. Of others nothing is known. */
const MOST_HANDLERS = 256
const SHARE_OF_LATEST = 1 / 16

export class RunTimes {
  readonly #unknownMs: number
  readonly #longMs: Float64Array

  /** @param unknownMs what a task is taken for whose handler has not answered yet */
  constructor(unknownMs: number) {
    this.#unknownMs = unknownMs
    this.#longMs = new Float64Array(MOST_HANDLERS).fill(unknownMs)
  }

  of(handlerId: number): number {
    return this.#longMs[handlerId] ?? this.#unknownMs
  }

  note(handlerId: number, runMs: number): void {
    const longMs = this.of(handlerId)
    // Beyond the last of them nothing is kept.
    this.#longMs[handlerId] = runMs > longMs ? runMs : longMs - (longMs - runMs) * SHARE_OF_LATEST
  }
}
