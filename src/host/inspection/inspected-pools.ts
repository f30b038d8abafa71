// The open pools of the program that may be inspected. All copies of lido in a program share one list, by a global symbol.
import type { PoolStats } from '../../api/stats.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'
import type { TracedPool } from './seen-workers.js'

/** What the socket uses of a pool. Another copy of lido may have created it. */
export interface ShownPool {
  stats(): PoolStats
}

/** The references are weak, because a pool that the program forgot must be collected. */
interface Entry {
  readonly pool: WeakRef<ShownPool>
  readonly traced: WeakRef<TracedPool>
}

export interface OpenPool {
  readonly pool: ShownPool
  readonly traced: TracedPool
}

export class InspectedPools {
  readonly #entries = new Set<Entry>()
  readonly #listeners = new Set<(traced: TracedPool) => void>()

  /** Other copies of lido call it, also those of other versions. */
  add(pool: ShownPool, traced: TracedPool): void {
    this.#entries.add({ pool: new WeakRef(pool), traced: new WeakRef(traced) })
    for (const listener of this.#listeners) listener(traced)
  }

  /** Calls back for each later pool. Returns the function that ends it. */
  onAdd(listener: (traced: TracedPool) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The pools that are not closed, in the order in which they were created. */
  get open(): OpenPool[] {
    const open: OpenPool[] = []
    for (const entry of this.#entries) {
      const [pool, traced] = [entry.pool.deref(), entry.traced.deref()]
      if (pool === undefined || traced === undefined || pool.stats().state === 'closed')
        this.#entries.delete(entry)
      else open.push({ pool, traced })
    }
    return open.sort((one, other) => one.traced.identity.id - other.traced.identity.id)
  }
}

/** The number changes with the methods of the list. */
const key = globalSymbol('inspectedPools.1')
const holder = globalThis as { [key: symbol]: InspectedPools | undefined }

/** @returns `isNew`: the list did not exist */
export function inspectedPools(): { pools: InspectedPools; isNew: boolean } {
  const isNew = holder[key] === undefined
  const pools = holder[key] ?? new InspectedPools()
  holder[key] = pools
  return { pools, isNew }
}
