// Tells which workers have lived as long as they may. One timer for all, for the oldest.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { WorkerHandle } from './worker-handle.js'

/** One that is over its age and could not be replaced is told again after so long. */
const AGAIN_AFTER_MS = 1000

export class Ageing {
  readonly #maxAgeMs: number
  readonly #clock: Clock
  readonly #workers: readonly WorkerHandle[]
  readonly #onOld: (worker: WorkerHandle) => void
  readonly #told = new WeakSet<WorkerHandle>()
  #toldAt = 0
  #timer: Timer | null = null

  /** @param workers oldest first */
  constructor(
    maxAgeMs: number,
    clock: Clock,
    workers: readonly WorkerHandle[],
    onOld: (worker: WorkerHandle) => void,
  ) {
    this.#maxAgeMs = maxAgeMs
    this.#clock = clock
    this.#workers = workers
    this.#onOld = onOld
  }

  /** To be called when a worker was started. */
  plan(): void {
    if (this.#maxAgeMs === Number.POSITIVE_INFINITY) return
    this.#timer?.cancel()
    const dueAt = Math.min(...this.#workers.map(worker => this.#dueAt(worker)))
    this.#timer = this.#clock.after(Math.max(dueAt - this.#clock.now(), 0), () => this.#tell())
  }

  #tell(): void {
    this.#toldAt = this.#clock.now()
    for (const worker of [...this.#workers]) {
      if (worker.isLeaving || worker.bornAt + this.#maxAgeMs > this.#toldAt) continue
      this.#told.add(worker)
      this.#onOld(worker)
    }
    this.plan()
  }

  #dueAt(worker: WorkerHandle): number {
    if (worker.isLeaving) return Number.POSITIVE_INFINITY
    return this.#told.has(worker) ? this.#toldAt + AGAIN_AFTER_MS : worker.bornAt + this.#maxAgeMs
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
