// The pool's other backends: for handlers that live elsewhere than the pool's workers, a pool of its own for each kind, opened
// by the first task that needs it. Room, figures and the end are shared with the pool that it belongs to.
import type { BackendKind } from '../backend/backend-kind.js'
import type { Timings } from '../metrics/timings.js'
import type { Admission, Load } from '../queue/admission.js'
import type { WorkerIds } from '../workers/starts.js'
import type { CloseOptions, CloseReport } from './close-options.js'
import type { Figures } from './figures.js'
import type { PoolSettings } from './options.js'
import type { Pool } from './pool.js'

/** What an annex has in common with its pool. */
export interface House {
  /** Made of the pool's. */
  settings: PoolSettings
  admission: Admission
  timings: Timings | null
  workerIds: WorkerIds
}

export interface Annex {
  pool: Pool
  /** What waits and runs there. */
  load: Load
  /** What is counted there. */
  figures: Figures
}

export class Annexes {
  readonly #settings: PoolSettings
  readonly #handlers: ReadonlyMap<string, BackendKind>
  readonly #open: (backend: BackendKind) => Annex
  readonly #opened = new Map<BackendKind, Annex>()

  /** @param open makes the annex; throws what a pool's constructor throws */
  constructor(settings: PoolSettings, open: (backend: BackendKind) => Annex) {
    this.#settings = settings
    this.#handlers = settings.handlers!
    this.#open = open
  }

  /** How many backends there are beside the pool's own, open or not. */
  get count(): number {
    return new Set(this.#handlers.values()).size
  }

  get opened(): Pool[] {
    return [...this.#opened.values()].map(annex => annex.pool)
  }

  get figures(): Figures[] {
    return [...this.#opened.values()].map(annex => annex.figures)
  }

  /** The annex where a call with these options is at home; `null`: the pool itself, which also judges bad options. */
  poolFor(options: unknown): Pool | null {
    const given = options ?? Object.prototype
    const filename = own(given, 'filename')
    if (filename !== undefined && filename !== null) return null
    const backend = this.#handlers.get((own(given, 'name') ?? this.#settings.name) as string)
    if (backend === undefined) return null
    let annex = this.#opened.get(backend)
    if (annex === undefined) {
      annex = this.#open(backend)
      this.#opened.set(backend, annex)
    }
    return annex.pool
  }

  /** Of the pool and all that is open. */
  loadWith(own: Load): Load {
    const annexes = this.#opened
    const sum = (key: keyof Load) => {
      let total = own[key]
      for (const { load } of annexes.values()) total += load[key]
      return total
    }
    return {
      get queueSize() {
        return sum('queueSize')
      },
      get arriving() {
        return sum('arriving')
      },
      get occupied() {
        return sum('occupied')
      },
      get outOfReach() {
        return sum('outOfReach')
      },
    }
  }

  /** Their workers too are replaced: all backends are tried, and the first failure is told. */
  async replacedWith(own: Promise<void>, isReload: boolean): Promise<void> {
    const others = this.opened.map(pool => (isReload ? pool.reload() : pool.recycle()))
    const outcomes = await Promise.allSettled([own, ...others])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  close(options: CloseOptions): void {
    for (const pool of this.opened) void pool.close(options)
  }

  destroy(): void {
    for (const pool of this.opened) void pool.destroy()
  }

  /** What closing them came to; they must be closing. */
  async ended(): Promise<CloseReport> {
    const reports = await Promise.all(this.opened.map(annex => annex.close()))
    return {
      cutOff: reports.reduce((total, { cutOff }) => total + cutOff, 0),
      timedOut: reports.some(({ timedOut }) => timedOut),
    }
  }
}

function own(options: object, key: string): unknown {
  return Object.hasOwn(options, key) ? (options as Record<string, unknown>)[key] : undefined
}
