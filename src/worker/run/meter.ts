// Measures the handlers of this worker: run time, active time of the event loop, and CPU time. Measuring a task takes
// some microseconds, so the meter measures only a sample of short tasks. It reports sums to the host at most every
// 20 ms, and later at most every 500 ms.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { HandlerMeasure } from '../../shared/messages/messages.js'
import { workerClock } from './clock.js'

/** After a task of 1 ms the meter measures the next one too. Measuring takes less than 1 % of the run time. */
const SKIPPED_PER_MS = 0.3
const MAX_SKIPPED = 255
/** The pause between two reports. It doubles with each report. */
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

interface MeteredHandler {
  readonly handler: HandlerRef
  /** The number of tasks before the next measured task. */
  toSkip: number
  /** Sums since the last report. */
  sums: HandlerMeasure | null
}

export class Meter {
  readonly #report: (handlers: HandlerMeasure[]) => void
  readonly #handlers = new Map<number, MeteredHandler>()
  #reportAt = 0
  #pauseMs = FIRST_PAUSE_MS

  constructor(report: (handlers: HandlerMeasure[]) => void) {
    this.#report = report
  }

  /** Call it when the handler is loaded. */
  add(handlerId: number, handler: HandlerRef): void {
    this.#handlers.set(handlerId, { handler, toSkip: 0, sums: null })
  }

  /** Call it when a task starts. Returns `null` when the task is not measured. */
  start(handlerId: number): Measurement | null {
    const metered = this.#handlers.get(handlerId)
    if (metered === undefined || --metered.toSkip >= 0) return null
    return new Measurement((runMs, activeMs, cpuMs) => this.#add(metered, runMs, activeMs, cpuMs))
  }

  #add(metered: MeteredHandler, runMs: number, activeMs: number, cpuMs: number | null): void {
    metered.toSkip = Math.min(Math.floor(SKIPPED_PER_MS / runMs), MAX_SKIPPED)
    metered.sums ??= { ...metered.handler, tasks: 0, runMs: 0, activeMs: 0, cpuMs: null }
    const { sums } = metered
    sums.tasks++
    sums.runMs += runMs
    sums.activeMs += activeMs
    if (cpuMs !== null) sums.cpuMs = (sums.cpuMs ?? 0) + cpuMs
    const now = workerClock.now()
    if (now < this.#reportAt) return
    this.#reportAt = now + this.#pauseMs
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
    this.#report(this.#takeSums())
  }

  #takeSums(): HandlerMeasure[] {
    const all: HandlerMeasure[] = []
    for (const metered of this.#handlers.values()) {
      if (metered.sums !== null) all.push(metered.sums)
      metered.sums = null
    }
    return all
  }
}

/** One measured task. It starts when it is created. */
export class Measurement {
  readonly #onEnd: (runMs: number, activeMs: number, cpuMs: number | null) => void
  readonly #cpuAtStart = workerClock.onCore()
  #startedAt = workerClock.now()
  /** `null` for a synchronous handler, which is active all the time. */
  #activeAtStart: number | null = null

  constructor(onEnd: (runMs: number, activeMs: number, cpuMs: number | null) => void) {
    this.#onEnd = onEnd
  }

  /** The handler returned a promise. Excludes the time of the first `active()`, which loads a module. */
  onPending(): void {
    const now = workerClock.now()
    this.#activeAtStart = workerClock.active() - (now - this.#startedAt)
    this.#startedAt += workerClock.now() - now
  }

  /** Call it when the handler has returned or thrown, or when its promise has settled. */
  end(): void {
    const runMs = workerClock.now() - this.#startedAt
    const activeMs =
      this.#activeAtStart === null ? runMs : Math.min(workerClock.active() - this.#activeAtStart, runMs)
    const cpuMs = this.#cpuAtStart === null ? null : Math.min(workerClock.onCore()! - this.#cpuAtStart, runMs)
    this.#onEnd(runMs, activeMs, cpuMs)
  }
}
