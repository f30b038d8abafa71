// What a pool and its calls have in common in judging their options: own members only, under names that are known. And what
// `room()` takes, which is no more than that.
import { type InvalidOptionError, InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { describe } from './describe-value.js'
import { hintAt } from './nearest-name.js'
import { mayHoldOptions } from './option-checks.js'

/** @param whose as in `run()` */
export function ownOptions<Options extends object>(
  whose: string,
  given: unknown,
  known: readonly (keyof Options & string)[],
  sample: string = known[0]!,
  Problem: typeof InvalidTaskError | typeof InvalidOptionError = InvalidTaskError,
): Options {
  if (!mayHoldOptions(given)) {
    throw new Problem(
      'options',
      `The options of ${whose} must be an object, as in { ${sample} }; got ${describe(given)}.`,
    )
  }
  for (const key of Object.keys(given)) {
    if ((known as readonly string[]).includes(key)) continue
    const value = describe((given as Record<string, unknown>)[key])
    throw new Problem(
      key,
      `There is no option '${key}' (given as ${value}) for ${whose}. ${hintAt(key, known)}`,
    )
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

export interface RoomOptions {
  /** Aborting it gives up waiting: the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export function resolveRoom(given: unknown): AbortSignal | null {
  if (given === undefined) return null
  return resolveSignal('room()', ownOptions<RoomOptions>('room()', given, ['signal']).signal)
}
