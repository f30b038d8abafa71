// Recorded durations, in milliseconds.

/** Recorded durations in milliseconds. The members always have the present values. */
export interface DurationSummary {
  /** Recorded tasks. */
  readonly count: number
  /** The shortest duration. `Infinity` before the first record. */
  readonly min: number
  /** The longest duration. 0 before the first record. */
  readonly max: number
  /** `NaN` before the first record. */
  readonly mean: number
  /** The standard deviation. `NaN` before the first record. */
  readonly stddev: number
  /**
   * The duration that this percentage of the tasks did not exceed, to 0.4 % or 1 µs.
   * @param percent above 0, up to 100
   */
  percentile(percent: number): number
}

/** Wait and run times of answered tasks, since the pool was created or since the last reset. */
export interface PoolHistogram {
  /** From the call of `run()` until a worker starts the task. `undefined` with `recordTiming: false`. */
  readonly waitTime: DurationSummary | undefined
  /** From the start of the task in a worker until its answer. `undefined` with `recordTiming: false`. */
  readonly runTime: DurationSummary | undefined
  /** Clears one of them; without an argument, both. */
  reset(which?: 'waitTime' | 'runTime'): void
}

/** Durations in milliseconds, summed up. */
export interface DurationStats {
  /** Recorded tasks. */
  count: number
  /** The shortest duration. */
  minMs: number
  /** The mean. */
  meanMs: number
  /** The duration that half of the tasks did not exceed. */
  p50Ms: number
  /** The duration that 99 % of the tasks did not exceed. */
  p99Ms: number
  /** The longest duration. */
  maxMs: number
}
