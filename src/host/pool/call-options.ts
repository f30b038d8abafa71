// What the calls of a pool have in common in judging their options: own members only, under names that are known.
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { describe } from './describe-value.js'
import { nearestName } from './nearest-name.js'
import { mayHoldOptions } from './option-checks.js'

/** @param call as in `run()` */
export function ownOptions<Options extends object>(
  call: string,
  given: unknown,
  known: readonly (keyof Options & string)[],
): Options {
  if (!mayHoldOptions(given)) {
    const sample = known.includes('signal' as never) ? 'signal' : known[0]
    throw new InvalidTaskError(
      'options',
      `The options of ${call} must be an object, as in { ${sample} }; got ${describe(given)}.`,
    )
  }
  for (const key of Object.keys(given)) {
    if ((known as readonly string[]).includes(key)) continue
    const nearest = nearestName(key, known)
    const hint = nearest === undefined ? `Known are ${known.join(', ')}.` : `Did you mean '${nearest}'?`
    throw new InvalidTaskError(key, `${call} has no option '${key}'. ${hint}`)
  }
  return Object.assign(Object.create(null), given)
}

export function refuseFor(call: string, option: string, value: unknown, expected: string): never {
  throw new InvalidTaskError(
    option,
    `The option '${option}' of ${call} must be ${expected}; got ${describe(value)}.`,
  )
}

export function resolveSignal(call: string, given: unknown): AbortSignal | null {
  if (given === undefined || given === null) return null
  const signal = given as AbortSignal
  if (
    typeof signal === 'object' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function' &&
    'aborted' in signal
  )
    return signal
  return refuseFor(call, 'signal', given, 'an AbortSignal')
}
