// Checks the options of a pool, a call or an adapter against one table, which has one rule for each option. Only own
// properties are read. After `read()` every option of the table is present and valid.

import { nearestName } from '../platform/nearest-name.js'
import { shorten } from '../platform/shorten.js'

/** The rule for one option. */
export interface OptionRule<Value> {
  /** The value of an option that is missing. */
  readonly default: Value
  /** Returns the accepted value, or throws with a method of `errors`. */
  readonly read: (given: unknown, option: string, errors: OptionErrors) => Value
}

/** A rule for each option of the interface. */
export type RulesFor<Options> = { readonly [Name in keyof Required<Options>]: OptionRule<unknown> }

/** The options after the check. Missing options have their default. */
export type Resolved<Rules> = {
  readonly [Name in keyof Rules]: Rules[Name] extends OptionRule<infer Value> ? Value : never
}

type OptionProblem = new (option: string, message: string) => Error

/** Throws the errors about the options of one owner. */
export class OptionErrors {
  readonly #owner: string
  readonly #Problem: OptionProblem
  readonly #replacements: Record<string, string>
  readonly #suffix: string

  /**
   * @param owner the name for messages, such as `a pool` or `run()`
   * @param replacements for each name of other packages and older versions: a sentence that names the replacement
   */
  constructor(owner: string, Problem: OptionProblem, replacements: Record<string, string> = {}) {
    this.#owner = owner
    this.#Problem = Problem
    this.#replacements = replacements
    this.#suffix = owner.endsWith('()') ? ` of ${owner}` : ''
  }

  /** @param expected continues the sentence "The option must be …" */
  wrong(option: string, given: unknown, expected: string): never {
    throw new this.#Problem(
      option,
      `The option '${option}'${this.#suffix} must be ${expected}; got ${describe(given)}.`,
    )
  }

  /** @param message a whole sentence */
  contradiction(option: string, message: string): never {
    throw new this.#Problem(option, message)
  }

  /** @param path the option that contains this one, with a dot: `restart.` */
  unknown(name: string, names: readonly string[], path: string): never {
    const hint =
      path === '' && Object.hasOwn(this.#replacements, name)
        ? this.#replacements[name]
        : hintAt(name, names, path)
    throw new this.#Problem(
      path + name,
      `Unknown option '${path}${shorten(name)}' for ${this.#owner}. ${hint}`,
    )
  }

  /** @param advice a sentence that follows, with a space before it */
  noObject(given: unknown, example: string, advice = ''): never {
    throw new this.#Problem(
      'options',
      `The options of ${this.#owner} must be an object, as in { ${example} }; got ${typeof given === 'string' ? 'a string' : describe(given)}.${advice}`,
    )
  }
}

/** The options that an object may have, each with its rule. */
export class OptionTable<Rules extends Record<string, OptionRule<unknown>>> {
  /** The rules by the names of the options. */
  readonly rules: Rules
  /** The names of the options. */
  readonly names: readonly string[]
  readonly #rules: ReadonlyMap<string, OptionRule<unknown>>
  readonly #defaults: Resolved<Rules>

  constructor(rules: Rules) {
    this.rules = rules
    this.names = Object.keys(rules)
    this.#rules = new Map(Object.entries(rules))
    const defaults = Object.entries(rules).map(([name, rule]) => [name, rule.default])
    this.#defaults = Object.fromEntries(defaults)
  }

  /** Returns the options with their defaults. `undefined` counts as missing. */
  read(given: object, errors: OptionErrors, path = ''): Resolved<Rules> {
    const resolved = { ...this.#defaults } as Record<string, unknown>
    for (const name of Object.keys(given)) {
      const value = (given as Record<string, unknown>)[name]
      const rule = this.#rules.get(name)
      if (rule === undefined) errors.unknown(name, this.names, path)
      if (value !== undefined) resolved[name] = rule.read(value, path + name, errors)
    }
    return resolved as Resolved<Rules>
  }

  /** Separates the options of this table from all other options. */
  split(given: object, errors: OptionErrors): { own: Resolved<Rules>; others: Record<string, unknown> } {
    const own: Record<string, unknown> = Object.create(null)
    const others: Record<string, unknown> = Object.create(null)
    for (const [name, value] of Object.entries(given)) {
      if (this.#rules.has(name)) own[name] = value
      else others[name] = value
    }
    return { own: this.read(own, errors), others }
  }
}

/**
 * A copy of the own fields, without a prototype. Use it for options that no table reads, and for options that Node gets: a field
 * of `Object.prototype` would count as an option there.
 */
export function ownFields<Options extends object>(given: Options): Options {
  return Object.assign(Object.create(null), given)
}

/** False for values that cannot have options, such as a `URL`, a signal or an array. */
export function mayHoldOptions(given: unknown): given is object {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return false
  return Object.prototype.toString.call(given) === '[object Object]' || Object.keys(given).length > 0
}

/** A program may give the address of a server where a name belongs. Logs keep messages. */
function withoutPassword(text: string): string {
  return text.replace(/:\/\/(?!\/).*@/s, '://…@')
}

/** The text of a value for an error message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `'${shorten(withoutPassword(value))}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return 'an array'
  const kind: unknown = value.constructor?.name
  return typeof kind === 'string' && kind !== 'Object' ? `an instance of ${kind}` : 'an object'
}

/** The advice for an unknown name. */
function hintAt(given: string, names: readonly string[], path: string): string {
  const nearest = nearestName(given, names)
  return nearest === undefined ? `Use one of ${names.join(', ')}.` : `Did you mean '${path}${nearest}'?`
}
