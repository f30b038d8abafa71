// What workers run: the handler for large bodies, in a module of its own.
import { move, transferableSymbol, valueSymbol } from '../../worker/index.js'
import { carryOut } from './carry-out.js'
import type { Plan, WorkerOutcome } from './plan.js'

/**
 * Values nest this deep at most on their way back, from whatever depth of its stack the program may take them in. What
 * nests deeper is not worth a copy: it goes back as bytes.
 */
const CARRIED_DEPTH = 500
const answer = ['status', 'statusCode', 'expose', 'headers'] as const

export async function parse({ bytes, plan }: { bytes: Uint8Array; plan: Plan }): Promise<WorkerOutcome> {
  const outcome = await carryOut(bytes, plan, CARRIED_DEPTH).catch(withOwnAnswer)
  if (!('bytes' in outcome)) return outcome
  return move({ [transferableSymbol]: [bytes.buffer as ArrayBuffer], [valueSymbol]: outcome }) as never
}

/** What says how an error is answered may be a getter of its class, which stays behind: it is made the error's own. */
function withOwnAnswer(thrown: any): never {
  if (thrown !== null && typeof thrown === 'object' && Object.isExtensible(thrown))
    for (const key of answer) {
      if (key in thrown && !Object.hasOwn(thrown, key))
        Object.defineProperty(thrown, key, { value: thrown[key], enumerable: true })
    }
  throw thrown
}
