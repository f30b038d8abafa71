// Wait and run times of tasks since the pool was created. A reset of `pool.histogram` changes only what `pool.histogram` shows.
import type { DurationSummary, PoolHistogram } from '../../api/durations.js'
import type { HandlerRecord, HandlerTasks } from './handler-tasks.js'
import { DurationHistogram } from './histogram.js'

/** A summary whose members always have the present values. */
class PresentValues implements DurationSummary {
  readonly #read: () => DurationSummary

  constructor(read: () => DurationSummary) {
    this.#read = read
  }

  get count(): number {
    return this.#read().count
  }

  get min(): number {
    return this.#read().min
  }

  get max(): number {
    return this.#read().max
  }

  get mean(): number {
    return this.#read().mean
  }

  get stddev(): number {
    return this.#read().stddev
  }

  percentile(percent: number): number {
    return this.#read().percentile(percent)
  }
}

export class DurationMetrics {
  readonly waitTime = new DurationHistogram()
  /** The durations that `pool.histogram` shows. */
  readonly shownWaitTime: DurationSummary = new PresentValues(() => this.#newWaitTime ?? this.waitTime)
  readonly shownRunTime: DurationSummary = new PresentValues(() => this.#newRunTime ?? this.runTime)
  readonly #handlerTasks: HandlerTasks
  /** From the last reset on. `null`: there was no reset. */
  #newWaitTime: DurationHistogram | null = null
  #newRunTime: DurationHistogram | null = null
  #totalRunMs = 0

  /** @param handlerTasks each handler has its own run times */
  constructor(handlerTasks: HandlerTasks) {
    this.#handlerTasks = handlerTasks
  }

  record(handler: HandlerRecord, waitMs: number, runMs: number): void {
    this.waitTime.record(waitMs)
    handler.runTime.record(runMs)
    this.#totalRunMs += runMs
    if (this.#newWaitTime !== null) this.#newWaitTime.record(waitMs)
    if (this.#newRunTime !== null) this.#newRunTime.record(runMs)
  }

  get totalRunMs(): number {
    return this.#totalRunMs
  }

  /** The run times of all handlers, at this moment. */
  get runTime(): DurationHistogram {
    const parts = [...this.#handlerTasks.all()].map(({ runTime }) => runTime).filter(({ count }) => count > 0)
    if (parts.length === 1) return parts[0]!
    const all = new DurationHistogram()
    for (const part of parts) all.add(part)
    return all
  }

  reset(which?: 'waitTime' | 'runTime'): void {
    if (which !== 'runTime') this.#newWaitTime = new DurationHistogram()
    if (which !== 'waitTime') this.#newRunTime = new DurationHistogram()
  }
}

export function poolHistogram(durationMetrics: DurationMetrics | null): PoolHistogram {
  return {
    get waitTime() {
      return durationMetrics?.shownWaitTime
    },
    get runTime() {
      return durationMetrics?.shownRunTime
    },
    reset: which => durationMetrics?.reset(which),
  }
}
