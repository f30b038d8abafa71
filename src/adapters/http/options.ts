// Checks the options of adapters with the same tables as the options of a pool.
import { InvalidOptionError } from '../../index.js'
import { mayHoldOptions, OptionErrors, type OptionRule, value } from '../../kit.js'

/** The default of the `Retry-After` header. */
export const RETRY_AFTER_S = 1

export const retryAfterRule: OptionRule<number> = value(
  given => Number.isSafeInteger(given) && (given as number) >= 0,
  'seconds: an integer of at least 0',
  {
    default: RETRY_AFTER_S,
  },
)

/** @param owner the name for messages, such as `forRoot()` */
export function optionErrors(owner: string): OptionErrors {
  return new OptionErrors(owner, InvalidOptionError)
}

/**
 * Throws `InvalidOptionError` for a value that cannot have options.
 * @param example an option for the message, such as `retryAfter: 2`
 */
export function checkHolder(given: unknown, errors: OptionErrors, example: string): object {
  return mayHoldOptions(given) ? given : errors.noObject(given, example)
}
