// Keeps the process alive while the pool has work, and 50 ms longer. Output and messages of a worker may arrive after
// its answer. The delay also saves a ref() and an unref() call for each task.
import type { Anchor, Clock, Timer } from '../../shared/platform/clock.js'
import type { TaskMetrics } from '../metrics/task-metrics.js'
import type { PoolLife } from './pool-life.js'
import type { PoolRef } from './pool-ref.js'

const UNREF_DELAY_MS = 50

export class KeepAlive {
  readonly #clock: Clock
  readonly #anchor: Anchor
  readonly #ref: PoolRef<object>
  readonly #taskMetrics: TaskMetrics
  readonly #life: PoolLife
  /** Unfinished calls of `ready()`, `recycle()` and `reload()`. */
  #calls = 0
  #unrefTimer: Timer | null = null

  constructor(clock: Clock, ref: PoolRef<object>, taskMetrics: TaskMetrics, life: PoolLife) {
    this.#clock = clock
    this.#anchor = clock.anchor()
    this.#ref = ref
    this.#taskMetrics = taskMetrics
    this.#life = life
  }

  /** Keeps the process alive until the work of a call to the workers is done. */
  async during(work: () => Promise<void>): Promise<void> {
    this.onBusy()
    this.#calls++
    try {
      await work()
    } finally {
      this.#calls--
      this.onIdle()
    }
  }

  /** Call it when the pool has work. */
  onBusy(): void {
    this.#ref.hold()
    if (this.#unrefTimer === null) this.#anchor.hold()
  }

  /** Call it when the pool has no work. */
  onIdle(): void {
    this.#unrefTimer ??= this.#clock.after(UNREF_DELAY_MS, () => {
      this.#unrefTimer = null
      if (this.#isBusy) return
      this.#anchor.release()
      this.#ref.release()
    })
  }

  get #isBusy(): boolean {
    return this.#taskMetrics.pending > 0 || this.#life.state !== 'open' || this.#calls > 0
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#unrefTimer?.cancel()
    this.#anchor.drop()
    this.#ref.release()
  }
}
