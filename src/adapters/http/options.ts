// Checks the options of adapters by the same tables as a pool's options.
import { InvalidOptionError } from '../../index.js'
import { value } from '../../shared/options/option-rules.js'
import { mayHoldOptions, OptionErrors, type OptionRule } from '../../shared/options/option-table.js'

/** Seconds that a refused client is asked to wait. */
export const RETRY_AFTER_S = 1

export const retryAfterRule: OptionRule<number> = value(
  given => Number.isSafeInteger(given) && (given as number) >= 0,
  'seconds: an integer of at least 0',
  {
    type: 'integer ≥ 0',
    default: RETRY_AFTER_S,
    description: 'seconds that a refused client is asked to wait',
  },
)

/** @param owner as in `forRoot()` */
export function optionErrors(owner: string): OptionErrors {
  return new OptionErrors(owner, InvalidOptionError)
}

/** Throws `InvalidOptionError` for values that can hold no options. @param example as in `retryAfter: 2` */
export function checkHolder(given: unknown, errors: OptionErrors, example: string): object {
  return mayHoldOptions(given) ? given : errors.noObject(given, example)
}
