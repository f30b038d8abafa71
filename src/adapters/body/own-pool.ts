// The pool that parses where the user gave none: one for all readers of the process, small, made when the first large body
// comes, closed when the last reader that used it is.
import { availableParallelism } from 'node:os'
import { Pool, PoolClosedError } from '../../index.js'

const MOST_THREADS = 2
/** Bodies that wait; each holds its bytes. */
const MOST_WAITING = 100

let shared: { readonly pool: Pool; users: number } | null = null

export class PoolOfReader {
  readonly #given: Pool | null
  #own: NonNullable<typeof shared> | null = null
  #isClosed = false

  constructor(given: Pool | null) {
    this.#given = given
  }

  /** Throws `PoolClosedError` after `close()`. */
  get pool(): Pool {
    if (this.#given !== null) return this.#given
    if (this.#isClosed) throw new PoolClosedError('closed')
    if (this.#own === null) {
      shared ??= { pool: makePool(), users: 0 }
      shared.users++
      this.#own = shared
    }
    return this.#own.pool
  }

  /** Resolves when what was accepted is done. A pool that was given stays as it is. */
  async close(): Promise<void> {
    this.#isClosed = true
    const own = this.#own
    this.#own = null
    if (own === null || --own.users > 0) return
    shared = null
    await own.pool.close()
  }
}

function makePool(): Pool {
  const maxThreads = Math.min(MOST_THREADS, availableParallelism())
  // It is there to keep the event loop free, whether or not that saves time; and its handler is none of the user's.
  return new Pool({
    minThreads: 1,
    maxThreads,
    maxQueue: MOST_WAITING,
    worthWarnings: false,
  })
}
