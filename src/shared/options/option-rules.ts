// Creates the rules for option tables.
import type { OptionRule, OptionTable, Resolved } from './option-table.js'

interface About<Value> {
  default: Value
}

function rule<Value>(about: About<Value>, read: OptionRule<Value>['read']): OptionRule<Value> {
  return { default: about.default, read }
}

const NONE = Number.POSITIVE_INFINITY

interface Limits {
  min: number
  max?: number
  /** `Infinity` is accepted too. */
  orInfinity?: boolean
}

/** A rule for an integer. */
export function integer(limits: Limits, about: About<number>): OptionRule<number>
/** A rule for an integer without a default. */
export function integer(limits: Limits, about: About<undefined>): OptionRule<number | undefined>
export function integer(
  { min, max = NONE, orInfinity = false }: Limits,
  about: About<number | undefined>,
): OptionRule<number | undefined> {
  return rule(about, (given, option, errors) => {
    if (orInfinity && given === NONE) return NONE
    const isInRange = Number.isSafeInteger(given) && (given as number) >= min && (given as number) <= max
    if (isInRange) return given as number
    const range = max === NONE ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`
    return errors.wrong(option, given, orInfinity ? `${range}, or Infinity` : range)
  })
}

/** Milliseconds, or `Infinity` for no limit. */
export function milliseconds(isZeroAllowed: boolean, about: About<number>): OptionRule<number>
export function milliseconds(isZeroAllowed: boolean, about: About<undefined>): OptionRule<number | undefined>
export function milliseconds(
  isZeroAllowed: boolean,
  about: About<number | undefined>,
): OptionRule<number | undefined> {
  return rule(about, (given, option, errors) => {
    if (typeof given === 'number' && (isZeroAllowed ? given >= 0 : given > 0)) return given
    const range = isZeroAllowed ? 'of at least' : 'above'
    return errors.wrong(option, given, `milliseconds: a number ${range} 0, or Infinity`)
  })
}

/** A rule for `true` or `false`. */
export function boolean(about: About<boolean>): OptionRule<boolean> {
  return rule(about, (given, option, errors) =>
    typeof given === 'boolean' ? given : errors.wrong(option, given, 'true or false'),
  )
}

/** A rule for a string that is not empty. */
export function text(about: About<string>): OptionRule<string>
/** A rule for a string that is not empty, without a default. */
export function text(about: About<undefined>): OptionRule<string | undefined>
export function text(about: About<string | undefined>): OptionRule<string | undefined> {
  return rule(about, (given, option, errors) =>
    typeof given === 'string' && given !== ''
      ? given
      : errors.wrong(option, given, 'a string that is not empty'),
  )
}

/** A rule for one of these strings. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  about: About<NoInfer<Value>>,
): OptionRule<Value> {
  return rule(about, (given, option, errors) => {
    if (values.includes(given as Value)) return given as Value
    const named = values.map(value => `'${value}'`)
    return errors.wrong(option, given, `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`)
  })
}

/** @param expected continues the sentence "The option must be …" */
export function value<Value>(
  isRight: (given: unknown) => boolean,
  expected: string,
  about: About<Value>,
): OptionRule<Value> {
  return rule(about, (given, option, errors) =>
    isRight(given) ? (given as Value) : errors.wrong(option, given, expected),
  )
}

/** A value that another part checks, or that may be anything. */
export function unchecked<Value>(about: About<Value>): OptionRule<Value> {
  return rule(about, given => given as Value)
}

/**
 * An object with its own options.
 * @param example an option for the message, such as `attempts: 3`
 */
export function group<Rules extends Record<string, OptionRule<unknown>>, Otherwise = undefined>(
  table: OptionTable<Rules>,
  example: string,
  about: About<Otherwise>,
): OptionRule<Resolved<Rules> | Otherwise> {
  return rule<Resolved<Rules> | Otherwise>(about, (given, option, errors) => {
    if (!isRecord(given)) return errors.wrong(option, given, `an object, as in { ${example} }`)
    return Object.freeze(table.read(given, errors, `${option}.`))
  })
}

/** True for an object that is not an array. */
export function isRecord(given: unknown): given is object {
  return given !== null && typeof given === 'object' && !Array.isArray(given)
}
