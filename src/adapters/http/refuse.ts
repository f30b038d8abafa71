// An option of an adapter's own that is refused, in the words in which a pool refuses its own.
import { InvalidOptionError } from '../../index.js'

export function refuse(option: string, given: unknown, expected: string): never {
  const shown =
    typeof given === 'string'
      ? `'${given}'`
      : typeof given === 'object' && given !== null
        ? 'an object'
        : String(given)
  throw new InvalidOptionError(
    option,
    `The option '${option}' must be ${expected}; got ${typeof given === 'function' ? 'a function' : shown}.`,
  )
}
