// A large body's way: its bytes are given to a worker, and what comes back is its value or what is wrong with it.
import { type RawRequest, whileConnected } from '../http/client.js'
import { carryOut } from './carry-out.js'
import type { PoolOfReader } from './own-pool.js'
import { parserUrl } from './place.js'
import type { Outcome, Plan, WorkerOutcome } from './plan.js'
import { problemOf, thrownError } from './problems.js'

/** Nothing crosses where a body is parsed in place. */
const ANY_DEPTH = Number.POSITIVE_INFINITY

/**
 * The bytes are given away, unless somebody else holds them too (`areKept`). Rejects with an `HttpProblem`, and with what a
 * function of the user's threw.
 */
export async function parseInPool(
  holder: PoolOfReader,
  request: RawRequest,
  bytes: Uint8Array,
  plan: Plan,
  areKept = false,
): Promise<Outcome> {
  const own = areKept ? new Uint8Array(bytes) : ownBuffer(bytes)
  const options = { filename: parserUrl, name: 'parse', transferList: [own.buffer as ArrayBuffer] }
  try {
    const outcome: WorkerOutcome = await whileConnected(request, signal =>
      holder.pool.run({ bytes: own, plan }, { ...options, signal }),
    )
    if (outcome.kind !== 'notCarried') return outcome
    // As deep as that it is the framework's own parser's, and takes the time that it takes there.
    return (await carryOut(outcome.bytes, plan, ANY_DEPTH)) as Outcome
  } catch (error) {
    throw thrownError(problemOf(error))
  }
}

/** Rejects with what a function of the user's threw. */
export async function parseInPlace(bytes: Uint8Array, plan: Plan): Promise<Outcome> {
  try {
    return (await carryOut(bytes, plan, ANY_DEPTH)) as Outcome
  } catch (error) {
    throw thrownError(error)
  }
}

/** Bytes that share their buffer with others are not ours to give away. */
function ownBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
