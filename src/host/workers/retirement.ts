// Tells which workers have been idle for so long that they are not needed. One timer for all, for the next of them.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { chooseRetired, nextRetirement, type PoolSize } from '../scheduler/scaling.js'
import type { Crew } from './crew.js'
import type { WorkerHandle } from './worker-handle.js'

/** A worker whose time is over may be about to take a task; then it is looked at again after so long. */
const RETRY_DELAY_MS = 1

export interface RetirementParts {
  clock: Clock
  crew: Crew
  /** `minWorkers` stay, idle or not. */
  size: PoolSize
  /** Milliseconds. */
  idleTimeout: number
  /** The worker holds nothing and never will again. */
  onRetired: (worker: WorkerHandle) => void
}

export class Retirement {
  readonly #parts: RetirementParts
  #timer: Timer | null = null
  #isStopped = false

  constructor(parts: RetirementParts) {
    this.#parts = parts
  }

  /** To be called when a worker has become idle. */
  plan(leastDelayMs = 0): void {
    if (this.#isStopped || this.#timer !== null) return
    const { clock, crew, idleTimeout } = this.#parts
    const { minWorkers } = this.#parts.size
    if (crew.takers <= minWorkers) return
    // One that still starts may not come to be, and has not been idle.
    const dueAt = nextRetirement(crew.serving, minWorkers, idleTimeout)
    if (dueAt === Number.POSITIVE_INFINITY) return
    this.#timer = clock.after(Math.max(dueAt - clock.now(), leastDelayMs), () => this.#retire())
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #retire(): void {
    this.#timer = null
    const { clock, crew, idleTimeout, onRetired } = this.#parts
    const { minWorkers } = this.#parts.size
    const due = chooseRetired(crew.serving, minWorkers, idleTimeout, clock.now())
    const retired = due.filter(worker => worker.holding.retire())
    for (const worker of retired) onRetired(worker)
    this.plan(retired.length < due.length ? RETRY_DELAY_MS : 0)
  }
}
