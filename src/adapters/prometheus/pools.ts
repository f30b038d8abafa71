// The pools whose figures are collected, and the totals of closed pools.
import type { Pool } from '../../index.js'
import { listPools } from '../../kit.js'
import { addPool, totalNames } from './pool-metrics.js'
import { Samples } from './samples.js'

export class CollectedPools {
  readonly #given: readonly Pool[] | null
  readonly #bounds: readonly number[]
  readonly #known = new WeakSet<Pool>()
  /** Counters must not fall when a pool closes. */
  readonly #closed: Samples
  #hasEnded = false
  /** For the metrics of one scrape, which are read in one turn. */
  #present: Samples | null = null

  /**
   * @param given `null`: all pools of this thread
   * @param bounds the upper bounds of the buckets, in seconds
   */
  constructor(given: readonly Pool[] | null, bounds: readonly number[]) {
    this.#given = given
    this.#bounds = bounds
    this.#closed = new Samples(bounds)
    void this.list
  }

  get list(): readonly Pool[] {
    if (this.#given !== null) return this.#given
    const pools = listPools()
    for (const pool of pools) this.watch(pool)
    return pools
  }

  /** Keeps the totals of the pool when it closes. */
  watch(pool: Pool): void {
    if (this.#given !== null || this.#known.has(pool)) return
    this.#known.add(pool)
    pool.once('close', () => {
      if (!this.#hasEnded) addPool(pool, this.#closed)
    })
  }

  get samples(): Samples {
    if (this.#present === null) {
      this.#present = new Samples(this.#bounds)
      for (const pool of this.list) addPool(pool, this.#present)
      this.#present.addTotals(this.#closed, totalNames)
      queueMicrotask(() => {
        this.#present = null
      })
    }
    return this.#present
  }

  end(): void {
    this.#hasEnded = true
  }
}
