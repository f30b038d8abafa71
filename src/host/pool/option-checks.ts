// Small judges of single options. Each gives the value back or throws an error that names the option, shows what was
// given and says what would be right.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { describe } from './describe-value.js'
import { nearestName } from './nearest-name.js'

export function integer(
  option: string,
  value: unknown,
  least: number,
  most: number,
  alsoInfinity = false,
): number {
  if (alsoInfinity && value === Number.POSITIVE_INFINITY) return value
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  const range =
    most === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${least}`
      : `an integer from ${least} to ${most}`
  return refuse(option, value, alsoInfinity ? `${range}, or Infinity` : range)
}

export function durationMs(option: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0) return value
  return refuse(option, value, 'milliseconds: a number of at least 0, or Infinity')
}

export function boolean(option: string, value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuse(option, value, 'true or false')
}

export function text(option: string, value: unknown): string {
  return typeof value === 'string' && value !== ''
    ? value
    : refuse(option, value, 'a string that is not empty')
}

export function plainObject(option: string, value: unknown): Record<string, unknown> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return value as Record<string, unknown>
  return refuse(option, value, 'an object')
}

export function stringArray(option: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value
  return refuse(option, value, 'an array of strings')
}

/** Throws the error that names the option. */
export type Refuse = (option: string, value: unknown, expected: string) => never

export function refuseUnknown(
  option: string,
  value: object,
  names: readonly string[],
  refuses: Refuse = refuse,
): void {
  for (const key of Object.keys(value)) {
    if (names.includes(key)) continue
    const nearest = nearestName(key, names)
    const hint = nearest === undefined ? `known are ${names.join(', ')}` : `did you mean '${nearest}'?`
    refuses(
      `${option}.${key}`,
      (value as Record<string, unknown>)[key],
      `left out: there is no such option; ${hint}`,
    )
  }
}

export function refuse(option: string, value: unknown, expected: string): never {
  throw new InvalidOptionError(option, `The option '${option}' must be ${expected}; got ${describe(value)}.`)
}

/** False for what can hold none, as a `URL`, a signal or an array put in the place of the options. */
export function mayHoldOptions(given: unknown): given is object {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return false
  return Object.prototype.toString.call(given) === '[object Object]' || Object.keys(given).length > 0
}
