// The handler that parses large bodies in a worker.
import { move, transferableSymbol, valueSymbol } from '../../worker.js'
import { parseBody } from './parse-body.js'
import type { ParsePlan, WorkerOutcome } from './parse-plan.js'

/** A value that nests deeper is not copied between threads. The worker returns its bytes instead. */
const CARRIED_DEPTH = 500
const statusFields = ['status', 'statusCode', 'expose', 'headers'] as const

export async function parse({ bytes, plan }: { bytes: Uint8Array; plan: ParsePlan }): Promise<WorkerOutcome> {
  const outcome = await parseBody(bytes, plan, CARRIED_DEPTH).catch(withOwnStatus)
  if (!('bytes' in outcome)) return outcome
  return move({ [transferableSymbol]: [bytes.buffer as ArrayBuffer], [valueSymbol]: outcome }) as never
}

/** Getters of an error's class do not cross threads, so this function copies their values to own properties. */
function withOwnStatus(thrown: any): never {
  if (thrown !== null && typeof thrown === 'object' && Object.isExtensible(thrown))
    for (const key of statusFields) {
      if (key in thrown && !Object.hasOwn(thrown, key))
        Object.defineProperty(thrown, key, { value: thrown[key], enumerable: true })
    }
  throw thrown
}
