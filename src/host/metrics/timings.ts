// How long tasks waited and ran, over the pool's life or since the last reset.
import { DurationHistogram, type DurationSummary } from './histogram.js'

export interface PoolHistogram {
  /** From `run()` to a worker: until one begins the task, or by its port, until it is given to one; `undefined` with `recordTiming: false`. */
  readonly waitTime: DurationSummary | undefined
  /** What the worker took for it, by its port with both ways through the channel; `undefined` with `recordTiming: false`. */
  readonly runTime: DurationSummary | undefined
  /** Forgets both, or one of them. */
  reset(which?: 'waitTime' | 'runTime'): void
}

export class Timings {
  readonly #waitTime = new DurationHistogram()
  readonly #runTime = new DurationHistogram()
  /** Not forgotten by a reset: utilization is over the pool's whole life. */
  #totalRunMs = 0

  record(waitMs: number, runMs: number): void {
    this.#waitTime.record(waitMs)
    this.#runTime.record(runMs)
    this.#totalRunMs += runMs
  }

  get totalRunMs(): number {
    return this.#totalRunMs
  }

  get waitTime(): DurationSummary {
    return this.#waitTime
  }

  get runTime(): DurationSummary {
    return this.#runTime
  }

  reset(which?: 'waitTime' | 'runTime'): void {
    if (which !== 'runTime') this.#waitTime.reset()
    if (which !== 'waitTime') this.#runTime.reset()
  }
}

export function poolHistogram(timings: Timings | null): PoolHistogram {
  return {
    get waitTime() {
      return timings?.waitTime
    },
    get runTime() {
      return timings?.runTime
    },
    reset: which => timings?.reset(which),
  }
}
