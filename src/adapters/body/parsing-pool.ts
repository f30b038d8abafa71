// The pool that parses large bodies, and the two ways to parse a body: in the pool or in place.
import { availableParallelism } from 'node:os'
import { Pool, PoolClosedError } from '../../index.js'
import { adapterFile } from '../../kit.js'
import { type RawRequest, whileConnected } from '../http/client.js'
import { parseBody } from './parse-body.js'
import type { ParseOutcome, ParsePlan, WorkerOutcome } from './parse-plan.js'
import { problemOf, thrownError } from './problems.js'

const MAX_THREADS = 2
/** The most bodies that wait in the shared pool. Each queued body keeps its bytes in memory. */
const MAX_QUEUE = 100
/** A value that stays in this thread may nest to any depth. */
const ANY_DEPTH = Number.POSITIVE_INFINITY

/** The pool of all readers without the option `pool`. Exists from the first large body until the last reader closes. */
let shared: { readonly pool: Pool; users: number } | null = null

export class ParsingPool {
  readonly #given: Pool | null
  #shared: NonNullable<typeof shared> | null = null
  #isClosed = false

  constructor(given: Pool | null) {
    this.#given = given
  }

  /** Throws `PoolClosedError` after `close()`. */
  get pool(): Pool {
    if (this.#given !== null) return this.#given
    if (this.#isClosed) throw new PoolClosedError('closed')
    if (this.#shared === null) {
      shared ??= { pool: makePool(), users: 0 }
      shared.users++
      this.#shared = shared
    }
    return this.#shared.pool
  }

  /** Resolves when all accepted bodies are parsed. Does not close the user's pool. */
  async close(): Promise<void> {
    this.#isClosed = true
    const used = this.#shared
    this.#shared = null
    if (used === null || --used.users > 0) return
    shared = null
    await used.pool.close()
  }
}

function makePool(): Pool {
  return new Pool({
    minWorkers: 1,
    maxWorkers: Math.min(MAX_THREADS, availableParallelism()),
    maxQueue: MAX_QUEUE,
    // The pool keeps the event loop free, even when it saves no time. The user cannot change the handler.
    performanceWarnings: false,
  })
}

/**
 * Transfers the bytes to a worker, or a copy of them when the caller keeps them (`areKept`). Rejects with an
 * `HttpProblem`, or with the error of a user's function.
 */
export async function parseInPool(
  parsingPool: ParsingPool,
  request: RawRequest,
  bytes: Uint8Array,
  plan: ParsePlan,
  areKept = false,
): Promise<ParseOutcome> {
  const own = areKept ? new Uint8Array(bytes) : ownBuffer(bytes)
  const options = { filename: parserUrl(), name: 'parse', transferList: [own.buffer as ArrayBuffer] }
  try {
    const outcome: WorkerOutcome = await whileConnected(request, signal =>
      parsingPool.pool.run({ bytes: own, plan }, { ...options, signal }),
    )
    if (outcome.kind !== 'notCarried') return outcome
    // The value nests too deep to cross threads. This thread parses it, like the framework's own parser.
    return (await parseBody(outcome.bytes, plan, ANY_DEPTH)) as ParseOutcome
  } catch (error) {
    throw thrownError(problemOf(error))
  }
}

/** Rejects with the error of a user's function. */
export async function parseInPlace(bytes: Uint8Array, plan: ParsePlan): Promise<ParseOutcome> {
  try {
    return (await parseBody(bytes, plan, ANY_DEPTH)) as ParseOutcome
  } catch (error) {
    throw thrownError(error)
  }
}

/** Copies bytes that share their buffer with other data, because a transfer would take the whole buffer. */
function ownBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

function parserUrl(): URL {
  return adapterFile('body', parserPath)
}

/** @vercel/nft finds the file by a path that starts with `__dirname`, but not in an arrow function. */
function parserPath(): string {
  return `${__dirname}/../../../esm/adapters/body/parser.js`
}
