// Figures of a pool for exporters of metrics. No reader resets them.

/** Durations since the pool was created. */
export interface RecordedDurations {
  /** Recorded tasks. */
  readonly count: number
  /** The sum of all durations. */
  readonly sumMs: number
  /**
   * For each bound, how many durations were at most as long, to 0.4 % or 1 µs.
   * @param boundsMs in ascending order
   */
  countsUpTo(boundsMs: readonly number[]): number[]
}

/** What `pool.stats()` sums up. */
export interface PoolFigures {
  /** `null` with `recordTiming: false`. */
  readonly waitTime: RecordedDurations | null
  /** The run times of each handler. */
  readonly runTimes: readonly {
    readonly filename: string
    readonly name: string
    readonly durations: RecordedDurations
  }[]
  /** The time for which all workers used cores, also the ended ones. `null` where Node.js cannot measure it. */
  readonly cpuMs: number | null
}

/** Gets what one worker answers to a question. */
export interface QuestionListener {
  /** Called for each answer. `undefined`: the worker has none. */
  onAnswer(answer: unknown): void
  /** The worker has ended. */
  onEnded(): void
}
