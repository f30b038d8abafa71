// What is counted and measured of a pool, together with its annexes.
import type { Clock } from '../../shared/platform/clock.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { Counters } from '../metrics/counters.js'
import type { HandlerMetrics, HandlerStats } from '../metrics/handler-metrics.js'
import { type PoolHistogram, poolHistogram, type Timings } from '../metrics/timings.js'
import type { Annexes } from './annexes.js'
import type { PoolStats } from './stats.js'

export interface FiguresParts {
  clock: Clock
  counters: Counters
  /** Those of the annexes too; `null`: nothing is timed. */
  timings: Timings | null
  handlerMetrics: HandlerMetrics | null
  dispatcher: Dispatcher
  annexes: Annexes | null
  /** Of all backends. */
  slots: number
}

export class Figures {
  readonly histogram: PoolHistogram
  readonly #parts: FiguresParts
  readonly #startedAt: number

  constructor(parts: FiguresParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.now()
    this.histogram = poolHistogram(parts.timings)
  }

  get durationMs(): number {
    return this.#parts.clock.now() - this.#startedAt
  }

  get utilization(): number {
    const { timings, slots } = this.#parts
    const { durationMs } = this
    if (timings === null || durationMs === 0) return 0
    return Math.min(timings.totalRunMs / (durationMs * slots), 1)
  }

  get completed(): number {
    return this.#others.reduce((total, { completed }) => total + completed, this.#parts.counters.completed)
  }

  get tasks(): PoolStats['tasks'] {
    const { counters, dispatcher } = this.#parts
    const counts = { ...counters.snapshot(), ...dispatcher.counts }
    for (const { tasks } of this.#others) {
      for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += tasks[key]
    }
    return counts
  }

  get handlers(): HandlerStats[] {
    const own = this.#parts.handlerMetrics?.handlers ?? []
    return own.concat(...this.#others.map(({ handlers }) => handlers))
  }

  get handOverMs(): number | null {
    return this.#parts.handlerMetrics?.handOverMs ?? null
  }

  get #others(): Figures[] {
    return this.#parts.annexes?.figures ?? []
  }
}
