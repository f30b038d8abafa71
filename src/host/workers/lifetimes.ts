// Limits the lifetime of workers: `idleTimeout` and `maxWorkerAge`. Each class has one timer, for the worker that is
// due first.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { chooseRetired, nextRetirement, type PoolSize } from './scaling.js'
import type { Worker } from './worker.js'

/** An idle worker may claim a task just when it is due. The host checks again after this time. */
const IDLE_RETRY_MS = 1
/** After this time, the host tries again to replace a worker that is too old. */
const AGE_RETRY_MS = 1000

export interface IdleTimeoutParts {
  clock: Clock
  workers: { readonly acceptingWorkers: number; readonly servingWorkers: Worker[] }
  /** The pool keeps `minWorkers` workers, idle or not. */
  size: PoolSize
  /** Milliseconds. */
  idleTimeout: number
}

export class IdleTimeout {
  readonly #parts: IdleTimeoutParts
  #timer: Timer | null = null
  #hasEnded = false

  constructor(parts: IdleTimeoutParts) {
    this.#parts = parts
  }

  /** Call it when a worker has become idle. */
  plan(leastDelayMs = 0): void {
    if (this.#hasEnded || this.#timer !== null) return
    const { clock, workers, size, idleTimeout } = this.#parts
    if (workers.acceptingWorkers <= size.minWorkers) return
    // Starting workers do not count, because they may fail to start.
    const dueAt = nextRetirement(workers.servingWorkers, size.minWorkers, idleTimeout)
    if (dueAt === Number.POSITIVE_INFINITY) return
    this.#timer = clock.after(Math.max(dueAt - clock.now(), leastDelayMs), () => this.#onDue())
  }

  end(): void {
    this.#hasEnded = true
    this.#timer?.cancel()
  }

  #onDue(): void {
    this.#timer = null
    const { clock, workers, size, idleTimeout } = this.#parts
    const due = chooseRetired(workers.servingWorkers, size.minWorkers, idleTimeout, clock.now())
    const retired = due.filter(worker => worker.tasks.retire())
    for (const worker of retired) worker.stop('idleTimeout')
    this.plan(retired.length < due.length ? IDLE_RETRY_MS : 0)
  }
}

export class MaxAge {
  readonly #maxAgeMs: number
  readonly #clock: Clock
  readonly #workers: readonly Worker[]
  readonly #onDue: (worker: Worker) => void
  readonly #reported = new WeakSet<Worker>()
  #reportedAt = 0
  #timer: Timer | null = null

  /** @param workers oldest first */
  constructor(maxAgeMs: number, clock: Clock, workers: readonly Worker[], onDue: (worker: Worker) => void) {
    this.#maxAgeMs = maxAgeMs
    this.#clock = clock
    this.#workers = workers
    this.#onDue = onDue
  }

  /** Call it when a worker was started. */
  plan(): void {
    if (this.#maxAgeMs === Number.POSITIVE_INFINITY) return
    this.#timer?.cancel()
    const dueAt = Math.min(...this.#workers.map(worker => this.#dueAt(worker)))
    this.#timer = this.#clock.after(Math.max(dueAt - this.#clock.now(), 0), () => this.#report())
  }

  end(): void {
    this.#timer?.cancel()
  }

  #report(): void {
    this.#reportedAt = this.#clock.now()
    for (const worker of [...this.#workers]) {
      if (worker.isLeaving || worker.startedAt + this.#maxAgeMs > this.#reportedAt) continue
      this.#reported.add(worker)
      this.#onDue(worker)
    }
    this.plan()
  }

  #dueAt(worker: Worker): number {
    if (worker.isLeaving) return Number.POSITIVE_INFINITY
    return this.#reported.has(worker) ? this.#reportedAt + AGE_RETRY_MS : worker.startedAt + this.#maxAgeMs
  }
}
