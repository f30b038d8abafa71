// Creates the rules for option tables.
import { describe, type OptionRule, type OptionTable, type Resolved } from './option-table.js'

interface About<Value> {
  default: Value
  description: string
  /** The default in words, for a default that is computed or hard to read. */
  defaultText?: string
  /** Replaces the type of the rule on the reference page. */
  type?: string
}

function rule<Value>(about: About<Value>, type: string, read: OptionRule<Value>['read']): OptionRule<Value> {
  const { default: value, description, defaultText = textOfDefault(value) } = about
  return { type: about.type ?? type, default: value, defaultText, description, read }
}

function textOfDefault(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (typeof value === 'number' && Number.isFinite(value)) return grouped(value)
  if (Array.isArray(value)) return '`[]`'
  return `\`${typeof value === 'string' ? describe(value) : value}\``
}

/** As `toLocaleString()`, which takes 17 ms at its first call and would slow down the import of this package. */
function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

const NONE = Number.POSITIVE_INFINITY

interface Limits {
  min: number
  max?: number
  /** `Infinity` is accepted too. */
  orInfinity?: boolean
}

export function integer(limits: Limits, about: About<number>): OptionRule<number>
export function integer(limits: Limits, about: About<undefined>): OptionRule<number | undefined>
export function integer(
  { min, max = NONE, orInfinity = false }: Limits,
  about: About<number | undefined>,
): OptionRule<number | undefined> {
  const range = max === NONE ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`
  const expected = orInfinity ? `${range}, or Infinity` : range
  const type = max === NONE ? `integer ≥ ${min}` : `integer from ${min} to ${grouped(max)}`
  return rule(about, orInfinity ? `${type}, or \`Infinity\`` : type, (given, option, errors) => {
    if (orInfinity && given === NONE) return NONE
    const isInRange = Number.isSafeInteger(given) && (given as number) >= min && (given as number) <= max
    if (isInRange) return given as number
    return errors.wrong(option, given, expected)
  })
}

/** Milliseconds, or `Infinity` for no limit. */
export function milliseconds(isZeroAllowed: boolean, about: About<number>): OptionRule<number>
export function milliseconds(isZeroAllowed: boolean, about: About<undefined>): OptionRule<number | undefined>
export function milliseconds(
  isZeroAllowed: boolean,
  about: About<number | undefined>,
): OptionRule<number | undefined> {
  const expected = `milliseconds: a number ${isZeroAllowed ? 'of at least' : 'above'} 0, or Infinity`
  return rule(about, `ms ${isZeroAllowed ? '≥' : '>'} 0, or \`Infinity\``, (given, option, errors) => {
    if (typeof given === 'number' && (isZeroAllowed ? given >= 0 : given > 0)) return given
    return errors.wrong(option, given, expected)
  })
}

export function boolean(about: About<boolean>): OptionRule<boolean> {
  return rule(about, 'boolean', (given, option, errors) =>
    typeof given === 'boolean' ? given : errors.wrong(option, given, 'true or false'),
  )
}

export function text(about: About<string>): OptionRule<string>
export function text(about: About<undefined>): OptionRule<string | undefined>
export function text(about: About<string | undefined>): OptionRule<string | undefined> {
  return rule(about, 'string', (given, option, errors) =>
    typeof given === 'string' && given !== ''
      ? given
      : errors.wrong(option, given, 'a string that is not empty'),
  )
}

export function oneOf<Value extends string>(
  values: readonly Value[],
  about: About<NoInfer<Value>>,
): OptionRule<Value> {
  const named = values.map(value => `'${value}'`)
  const inWords = (names: string[]) => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  return rule(about, inWords(named.map(name => `\`${name}\``)), (given, option, errors) =>
    values.includes(given as Value) ? (given as Value) : errors.wrong(option, given, inWords(named)),
  )
}

/** @param expected continues the sentence "The option must be …" */
export function value<Value>(
  isRight: (given: unknown) => boolean,
  expected: string,
  about: About<Value> & { type: string },
): OptionRule<Value> {
  return rule(about, about.type, (given, option, errors) =>
    isRight(given) ? (given as Value) : errors.wrong(option, given, expected),
  )
}

/** A value that another part checks, or that may be anything. */
export function unchecked<Value>(about: About<Value> & { type: string }): OptionRule<Value> {
  return rule(about, about.type, given => given as Value)
}

/**
 * An object with its own options.
 * @param example an option for the message, such as `attempts: 3`
 */
export function group<Rules extends Record<string, OptionRule<unknown>>, Otherwise = undefined>(
  table: OptionTable<Rules>,
  example: string,
  about: About<Otherwise> & { type: string },
): OptionRule<Resolved<Rules> | Otherwise> {
  return rule<Resolved<Rules> | Otherwise>(about, about.type, (given, option, errors) => {
    if (!isRecord(given)) return errors.wrong(option, given, `an object, as in { ${example} }`)
    return Object.freeze(table.read(given, errors, `${option}.`))
  })
}

export function isRecord(given: unknown): given is object {
  return given !== null && typeof given === 'object' && !Array.isArray(given)
}
