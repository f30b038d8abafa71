// Wait and run times of tasks, since the pool was created or since the last reset.
import type { DurationSummary, PoolHistogram } from '../../api/durations.js'
import { DurationHistogram } from './histogram.js'

export class DurationMetrics {
  readonly #waitTime = new DurationHistogram()
  readonly #runTime = new DurationHistogram()
  /** A reset does not clear this sum, because `utilization` covers the whole life of the pool. */
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

export function poolHistogram(durationMetrics: DurationMetrics | null): PoolHistogram {
  return {
    get waitTime() {
      return durationMetrics?.waitTime
    },
    get runTime() {
      return durationMetrics?.runTime
    },
    reset: which => durationMetrics?.reset(which),
  }
}
