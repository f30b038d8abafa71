// Durations, summed up: count, extremes, mean and percentiles, in milliseconds with a resolution of one microsecond.
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

const MICROSECONDS = 1000

export interface DurationSummary {
  readonly count: number
  /** `Infinity` before the first record. */
  readonly min: number
  readonly max: number
  /** `NaN` before the first record, as is `stddev`. */
  readonly mean: number
  readonly stddev: number
  /** @param percent above 0, up to 100 */
  percentile(percent: number): number
}

export class DurationHistogram implements DurationSummary {
  readonly #histogram: RecordableHistogram = createHistogram()

  record(durationMs: number): void {
    this.#histogram.record(Math.max(Math.round(durationMs * MICROSECONDS), 1))
  }

  reset(): void {
    this.#histogram.reset()
  }

  get count(): number {
    return this.#histogram.count
  }

  get min(): number {
    return this.count === 0 ? Number.POSITIVE_INFINITY : this.#histogram.min / MICROSECONDS
  }

  get max(): number {
    return this.#histogram.max / MICROSECONDS
  }

  get mean(): number {
    return this.#histogram.mean / MICROSECONDS
  }

  get stddev(): number {
    return this.#histogram.stddev / MICROSECONDS
  }

  percentile(percent: number): number {
    return this.#histogram.percentile(percent) / MICROSECONDS
  }
}
