// What a user may say of bodies, and what it becomes. Resolved once, when the reader is made; own properties only.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { InvalidOptionError, type Pool } from '../../index.js'
import { refuse } from '../http/refuse.js'
import type { FunctionNames, ParsePlan, Poisoning } from './parse-plan.js'

/** What every reader takes. */
export interface ParseOptions {
  /** The pool that parses large bodies. Default: one small pool that all readers of the process share. */
  pool?: Pool<any> | undefined
  /** Bytes, after decompression, from which a body is parsed in the pool; `Infinity`: never. Default 131,072. */
  threshold?: number | undefined
  /** Levels of nesting above which a body is refused with 400. Default `Infinity`. */
  maxDepth?: number | undefined
  /** What happens to keys named `__proto__`. Default: as the framework's own parser does. */
  onProtoPoisoning?: Poisoning | undefined
  /** What happens to a `constructor` that holds a `prototype`. Default: as the framework's own parser does. */
  onConstructorPoisoning?: Poisoning | undefined
  /** The module of `validate`, `select` and `reviver`: an absolute path, a `file:` string or a `URL`. */
  module?: string | URL | undefined
  /** The export that checks a parsed value. */
  validate?: string | undefined
  /** The export that makes of a parsed value what the route gets; what it leaves out does not cross threads. */
  select?: string | undefined
  /** The export that `JSON.parse()` is given as its reviver. */
  reviver?: string | undefined
}

/** Looks at a body before it is parsed; when it throws, the answer is 403. */
export type Verifier = (
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  charset: string,
) => void

/** What body-parser reads by; see there. */
export interface ReadOptions {
  /** Bytes, or a text as `'10mb'`, of the body after decompression. Default `'100kb'`. */
  limit?: number | string | undefined
  /** Takes compressed bodies. Default `true`. */
  inflate?: boolean | undefined
  /** Which content types are read. */
  type?: string | string[] | ((request: IncomingMessage) => unknown) | undefined
  verify?: Verifier | false | undefined
}

export interface JsonOptions extends ParseOptions, ReadOptions {
  /** Accepts objects and arrays only. Default `true`. */
  strict?: boolean | undefined
}

export interface NdjsonOptions extends ParseOptions, ReadOptions {
  /** Values above which a body is refused with 413. Default 100,000. */
  maxLines?: number | undefined
}

export interface Settings {
  readonly pool: Pool | null
  readonly threshold: number
  readonly plan: ParsePlan
  /** The options ask for more than the framework's own parser does. */
  readonly isSpecial: boolean
}

export const parseOptionNames = [
  'pool',
  'threshold',
  'maxDepth',
  'onProtoPoisoning',
  'onConstructorPoisoning',
  'module',
  'validate',
  'select',
  'reviver',
] as const
export const readOptionNames = ['limit', 'inflate', 'type', 'verify'] as const

export const linesTypes = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
]

const DEFAULT_THRESHOLD_BYTES = 131_072
const DEFAULT_MOST_LINES = 100_000
const poisonings = ['error', 'remove', 'ignore']
const functionOptions = ['validate', 'select', 'reviver'] as const

/** Throws `InvalidOptionError` for what is no option, and for what is none of the values of one. */
export function ownOptions<Options extends object>(
  given: Options | undefined,
  known: readonly string[],
): Options {
  if (given === undefined) return Object.create(null)
  if (given === null || typeof given !== 'object') refuse('options', given, 'an object')
  const own = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name))
      throw new InvalidOptionError(name, `There is no option '${name}'. Known are ${known.join(', ')}.`)
    // Where defaults are spread before it, `undefined` would be what was asked for.
    if (value !== undefined) own[name] = value
  }
  return own
}

export function resolveParsing(
  options: ParseOptions & { strict?: boolean | undefined; maxLines?: number | undefined },
  format: ParsePlan['format'],
): Settings {
  const { pool = null, strict = true } = options
  if (pool !== null && typeof pool.run !== 'function') refuse('pool', pool, 'a Pool')
  if (typeof strict !== 'boolean') refuse('strict', strict, 'true or false')
  const plan: ParsePlan = {
    format,
    charset: 'utf-8',
    charsets: null,
    isStrict: strict,
    isEmptyObject: true,
    maxDepth: limitOf(options, 'maxDepth', Number.POSITIVE_INFINITY),
    maxLines: limitOf(options, 'maxLines', DEFAULT_MOST_LINES),
    onProtoPoisoning: poisoningOf(options, 'onProtoPoisoning'),
    onConstructorPoisoning: poisoningOf(options, 'onConstructorPoisoning'),
    functions: resolveFunctions(options),
  }
  const isPlain = plan.onProtoPoisoning === 'ignore' && plan.onConstructorPoisoning === 'ignore'
  return {
    pool,
    threshold: limitOf(options, 'threshold', DEFAULT_THRESHOLD_BYTES),
    plan,
    isSpecial:
      format === 'lines' || plan.maxDepth < Number.POSITIVE_INFINITY || !isPlain || plan.functions !== null,
  }
}

/** As in body-parser, what is falsy is none. Throws `InvalidOptionError`. */
export function verifierOf({ verify }: ReadOptions): Verifier | null {
  if (!verify) return null
  return typeof verify === 'function' ? verify : refuse('verify', verify, 'a function')
}

/** Fastify's parsers take any limit, and one that is no number for none. Throws `InvalidOptionError`. */
export function resolveBodyLimit({ bodyLimit }: { bodyLimit?: number | undefined }): number | undefined {
  if (bodyLimit === undefined || bodyLimit === Number.POSITIVE_INFINITY) return bodyLimit
  if (Number.isInteger(bodyLimit) && bodyLimit > 0) return bodyLimit
  return refuse('bodyLimit', bodyLimit, 'an integer above 0, in bytes, or Infinity')
}

function resolveFunctions(options: ParseOptions): FunctionNames | null {
  const named = functionOptions.filter(option => options[option] !== undefined)
  for (const option of named) {
    const given: unknown = options[option]
    if (typeof given !== 'string' || given === '')
      refuse(option, given, "the name of an export of 'module': functions do not cross to a worker")
  }
  if (options.module === undefined) {
    if (named.length === 0) return null
    throw new InvalidOptionError(
      'module',
      `The option '${named[0]}' names an export of 'module', which is missing. Give it, as in module: new URL('./bodies.js', import.meta.url).`,
    )
  }
  if (named.length === 0)
    throw new InvalidOptionError(
      'module',
      `The option 'module' needs at least one of ${functionOptions.join(', ')}.`,
    )
  const { validate = null, select = null, reviver = null } = options
  return { module: moduleUrl(options.module), validate, select, reviver }
}

function moduleUrl(given: unknown): string {
  if (typeof given === 'string' && isAbsolute(given)) return pathToFileURL(given).href
  try {
    // Throws also for what is no file of this machine.
    fileURLToPath(given as string | URL)
    return new URL(given as string | URL).href
  } catch {
    const shown = given instanceof URL ? given.href : given
    return refuse('module', shown, "an absolute path, a 'file:' string or a file's URL, on this machine")
  }
}

function limitOf<Options extends object>(
  options: Options,
  name: keyof Options & string,
  otherwise: number,
): number {
  const given: unknown = options[name]
  if (given === undefined) return otherwise
  if (given === Number.POSITIVE_INFINITY) return given
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return given
  return refuse(name, given, 'an integer of at least 0, or Infinity')
}

function poisoningOf(options: ParseOptions, name: 'onProtoPoisoning' | 'onConstructorPoisoning'): Poisoning {
  const given = options[name] ?? 'ignore'
  return poisonings.includes(given) ? given : refuse(name, given, "'error', 'remove' or 'ignore'")
}
