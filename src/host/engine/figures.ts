// Computes the statistics of a pool from its counters and measurements.

import type { PoolHistogram } from '../../api/durations.js'
import type { HandlerStats, PoolStats } from '../../api/stats.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Counters } from '../metrics/counters.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import { poolHistogram, type Timings } from '../metrics/timings.js'
import type { Scheduler } from '../scheduler/scheduler.js'

export interface FiguresParts {
  clock: Clock
  counters: Counters
  /** `null`: the pool does not measure times. */
  timings: Timings | null
  handlerMetrics: HandlerMetrics | null
  scheduler: Scheduler
  slots: number
}

export class Figures {
  readonly histogram: PoolHistogram
  readonly #parts: FiguresParts
  readonly #startedAt: number
  #slots: number
  /** The sum of the lifetimes of all slots until the last `resize()`. */
  #earlierSlotMs = 0
  #resizedAt: number

  constructor(parts: FiguresParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.now()
    this.#slots = parts.slots
    this.#resizedAt = this.#startedAt
    this.histogram = poolHistogram(parts.timings)
  }

  get durationMs(): number {
    return this.#parts.clock.now() - this.#startedAt
  }

  get utilization(): number {
    const { timings } = this.#parts
    const slotMs = this.#slotMs
    if (timings === null || slotMs === 0) return 0
    return Math.min(timings.totalRunMs / slotMs, 1)
  }

  resize(slots: number): void {
    this.#earlierSlotMs = this.#slotMs
    this.#resizedAt = this.#parts.clock.now()
    this.#slots = slots
  }

  get #slotMs(): number {
    return this.#earlierSlotMs + (this.#parts.clock.now() - this.#resizedAt) * this.#slots
  }

  get completed(): number {
    return this.#parts.counters.completed
  }

  get tasks(): PoolStats['tasks'] {
    const { counters, scheduler } = this.#parts
    return { ...counters.snapshot(), ...scheduler.counts }
  }

  get handlers(): HandlerStats[] {
    return this.#parts.handlerMetrics?.handlers ?? []
  }

  get handOverMs(): number | null {
    return this.#parts.handlerMetrics?.handOverMs ?? null
  }
}
