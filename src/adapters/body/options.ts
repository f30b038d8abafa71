// The options of readers of bodies: their types, their tables, and the settings made from them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Pool } from '../../index.js'
import { boolean, integer, oneOf, unchecked, value } from '../../shared/options/option-rules.js'
import {
  type OptionErrors,
  type OptionRule,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { checkHolder, optionErrors } from '../http/options.js'
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

export const linesTypes = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
]

const NONE = Number.POSITIVE_INFINITY
const functionOptions = ['validate', 'select', 'reviver'] as const

function exportName(description: string): OptionRule<string | undefined> {
  return value<string | undefined>(
    given => typeof given === 'string' && given !== '',
    "the name of an export of 'module': functions do not cross to a worker",
    { type: 'string', default: undefined, description },
  )
}

function poisoning(description: string): OptionRule<Poisoning> {
  return oneOf<Poisoning>(['error', 'remove', 'ignore'], { default: 'ignore', description })
}

const parseRules = {
  pool: value<Pool | null>(given => given === null || typeof (given as Pool).run === 'function', 'a Pool', {
    type: '`Pool`',
    default: null,
    description: 'parses large bodies',
  }),
  threshold: integer(
    { min: 0, orInfinity: true },
    { default: 131_072, description: 'bytes, after decompression, from which a body is parsed in the pool' },
  ),
  maxDepth: integer(
    { min: 0, orInfinity: true },
    { default: NONE, description: 'levels of nesting above which a body is refused' },
  ),
  onProtoPoisoning: poisoning('what happens to keys named `__proto__`'),
  onConstructorPoisoning: poisoning('what happens to a `constructor` that holds a `prototype`'),
  module: unchecked<string | URL | undefined>({
    type: 'absolute path, `file:` string or `URL`',
    default: undefined,
    description: 'module of `validate`, `select` and `reviver`',
  }),
  validate: exportName('the export that checks a parsed value'),
  select: exportName('the export that makes the value that the route gets'),
  reviver: exportName('the export that `JSON.parse()` gets as its reviver'),
} satisfies RulesFor<ParseOptions>

/** body-parser checks the others. As there, a `verify` that is falsy is none. */
const readRules = {
  limit: unchecked<ReadOptions['limit']>({ type: 'bytes, or text', default: undefined, description: '' }),
  inflate: unchecked<ReadOptions['inflate']>({ type: 'boolean', default: undefined, description: '' }),
  type: unchecked<ReadOptions['type']>({ type: 'any', default: undefined, description: '' }),
  verify: value<ReadOptions['verify']>(given => !given || typeof given === 'function', 'a function', {
    type: 'function',
    default: undefined,
    description: 'looks at a body before it is parsed',
  }),
} satisfies RulesFor<ReadOptions>

const strict = boolean({ default: true, description: 'accepts objects and arrays only' })
const maxLines = integer(
  { min: 0, orInfinity: true },
  { default: 100_000, description: 'values above which a body is refused' },
)

/** Those of Fastify's plugins. Its parsers take any limit, and treat one that is no number as none. */
const fastifyRules = {
  ...parseRules,
  bodyLimit: value<number | undefined>(
    given => given === NONE || (Number.isInteger(given) && (given as number) > 0),
    'an integer above 0, in bytes, or Infinity',
    { type: 'bytes', default: undefined, description: 'bytes of a body' },
  ),
  contentType: unchecked<string | RegExp | (string | RegExp)[] | undefined>({
    type: 'string, RegExp or an array of them',
    default: undefined,
    description: 'content types that are parsed',
  }),
}

export const tables = {
  json: new OptionTable({ ...parseRules, ...readRules, strict } satisfies RulesFor<JsonOptions>),
  ndjson: new OptionTable({ ...parseRules, ...readRules, maxLines } satisfies RulesFor<NdjsonOptions>),
  fastifyJson: new OptionTable(fastifyRules),
  fastifyNdjson: new OptionTable({ ...fastifyRules, maxLines }),
}

/** Throws `InvalidOptionError`. @param owner as in `json()` */
export function readOptions<Rules extends Record<string, OptionRule<unknown>>>(
  table: OptionTable<Rules>,
  given: unknown = {},
  owner: string,
): Resolved<Rules> {
  const errors = optionErrors(owner)
  return table.read(checkHolder(given, errors, 'threshold: 65_536'), errors)
}

type ReadParseOptions = Resolved<typeof parseRules>

export function resolveParsing(
  options: ReadParseOptions,
  plan: Pick<ParsePlan, 'format' | 'isStrict' | 'maxLines'>,
): Settings {
  const { pool, threshold, maxDepth, onProtoPoisoning, onConstructorPoisoning } = options
  const functions = resolveFunctions(options)
  const isPlain = onProtoPoisoning === 'ignore' && onConstructorPoisoning === 'ignore'
  return {
    pool,
    threshold,
    plan: {
      ...plan,
      charset: 'utf-8',
      charsets: null,
      isEmptyObject: true,
      maxDepth,
      onProtoPoisoning,
      onConstructorPoisoning,
      functions,
    },
    isSpecial: plan.format === 'lines' || maxDepth < NONE || !isPlain || functions !== null,
  }
}

function resolveFunctions(options: ReadParseOptions): FunctionNames | null {
  const named = functionOptions.filter(option => options[option] !== undefined)
  const errors = optionErrors('module')
  if (options.module === undefined) {
    if (named.length === 0) return null
    return errors.contradiction(
      'module',
      `The option '${named[0]}' names an export of 'module', which is missing. Give it, as in module: new URL('./bodies.js', import.meta.url).`,
    )
  }
  if (named.length === 0)
    return errors.contradiction(
      'module',
      `The option 'module' needs at least one of ${functionOptions.join(', ')}.`,
    )
  const { validate = null, select = null, reviver = null } = options
  return { module: moduleUrl(options.module, errors), validate, select, reviver }
}

function moduleUrl(given: unknown, errors: OptionErrors): string {
  if (typeof given === 'string' && isAbsolute(given)) return pathToFileURL(given).href
  try {
    // Throws also for what is no file of this machine.
    fileURLToPath(given as string | URL)
    return new URL(given as string | URL).href
  } catch {
    const shown = given instanceof URL ? given.href : given
    return errors.wrong(
      'module',
      shown,
      "an absolute path, a 'file:' string or a file's URL, on this machine",
    )
  }
}
