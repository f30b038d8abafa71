// Converts the summaries of wait and run times to Piscina's format: milliseconds, with one key for each percentile.
import type { DurationSummary, PoolHistogram } from '../../index.js'

const percentiles = {
  p0_001: 0.001,
  p0_01: 0.01,
  p0_1: 0.1,
  p1: 1,
  p2_5: 2.5,
  p10: 10,
  p25: 25,
  p50: 50,
  p75: 75,
  p90: 90,
  p97_5: 97.5,
  p99: 99,
  p99_9: 99.9,
  p99_99: 99.99,
  p99_999: 99.999,
} as const

/** The smallest value of an empty histogram: 2^63 - 1 microseconds. */
const EMPTY_MIN_MS = 9223372036854776

/** Durations in milliseconds, with one field for each percentile. */
export type PiscinaHistogramSummary = Record<
  'average' | 'mean' | 'stddev' | 'min' | 'max' | keyof typeof percentiles,
  number
>

/** Wait and run times. */
export interface PiscinaHistogram {
  /** `undefined` with `recordTiming: false`. */
  readonly runTime: PiscinaHistogramSummary
  readonly waitTime: PiscinaHistogramSummary
  resetRunTime(): void
  resetWaitTime(): void
}

export function summarize(summary: DurationSummary): PiscinaHistogramSummary {
  const values: Record<string, number> = {
    average: summary.mean,
    mean: summary.mean,
    stddev: summary.stddev,
    min: summary.count === 0 ? EMPTY_MIN_MS : summary.min,
    max: summary.max,
  }
  for (const [key, percent] of Object.entries(percentiles)) values[key] = summary.percentile(percent)
  return values as PiscinaHistogramSummary
}

export function piscinaHistogram(current: () => PoolHistogram): PiscinaHistogram {
  const maybe = (summary: DurationSummary | undefined) =>
    (summary === undefined ? undefined : summarize(summary)) as PiscinaHistogramSummary
  return {
    get runTime() {
      return maybe(current().runTime)
    },
    get waitTime() {
      return maybe(current().waitTime)
    },
    resetRunTime: () => current().reset('runTime'),
    resetWaitTime: () => current().reset('waitTime'),
  }
}
