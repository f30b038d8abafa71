// The options of the body readers: their types, their tables, and the settings that result from them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Pool } from '../../index.js'
import {
  boolean,
  importedFile,
  integer,
  type OptionErrors,
  type OptionRule,
  OptionTable,
  oneOf,
  type Resolved,
  type RulesFor,
  unchecked,
  value,
} from '../../kit.js'
import { checkHolder, optionErrors } from '../http/options.js'
import type { FunctionNames, ParsePlan, Poisoning } from './parse-plan.js'

/** Options of every reader. */
export interface ParseOptions {
  /**
   * The pool that parses large bodies. Default: a pool of at most two workers for all readers of the process.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  pool?: Pool<any> | undefined
  /**
   * The pool parses bodies of at least this many bytes, after decompression. `Infinity`: never. Default 131,072.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  threshold?: number | undefined
  /**
   * The server refuses a body that nests deeper, with status 400. Default `Infinity`.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  maxDepth?: number | undefined
  /**
   * The rule for keys named `__proto__`. Default: the rule of the framework's own parser.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  onProtoPoisoning?: Poisoning | undefined
  /**
   * The rule for a `constructor` that contains a `prototype`. Default: the rule of the framework's own parser.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  onConstructorPoisoning?: Poisoning | undefined
  /**
   * The module of `validate`, `select` and `reviver`: a function that imports it, as `() => import('./orders.js')`, an absolute path, a
   * `file:` string or a `URL`. The function is not called.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  module?: (() => Promise<object>) | string | URL | undefined
  /**
   * The file from whose folder a relative path of `module` starts: `import.meta.url`, or `__filename` in CommonJS.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  base?: string | URL | undefined
  /**
   * The export that checks a parsed value.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  validate?: string | undefined
  /**
   * The export that returns the value for the route. Only this value crosses threads.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  select?: string | undefined
  /**
   * The export that `JSON.parse()` gets as its reviver.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  reviver?: string | undefined
}

/** Checks the bytes of a body before they are parsed. If it throws, body-parser answers with status 403. */
export type Verifier = (
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  charset: string,
) => void

/** Options of body-parser. Its documentation describes them. */
export interface ReadOptions {
  /**
   * The largest body after decompression: bytes, or a string such as `'10mb'`. Default `'100kb'`.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  limit?: number | string | undefined
  /**
   * Accepts compressed bodies. Default `true`.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  inflate?: boolean | undefined
  /**
   * The content types that are parsed.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  type?: string | string[] | ((request: IncomingMessage) => unknown) | undefined
  /**
   * Called with the bytes of a body before they are parsed. If it throws, the server answers with status 403.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  verify?: Verifier | false | undefined
}

/** The options of `json()` and `jsonReader()`. */
export interface JsonOptions extends ParseOptions, ReadOptions {
  /**
   * Accepts objects and arrays only. Default `true`.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  strict?: boolean | undefined
}

/** The options of `ndjson()` and `ndjsonReader()`. */
export interface NdjsonOptions extends ParseOptions, ReadOptions {
  /**
   * The server refuses a body with more values, with status 413. Default 100,000.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  maxLines?: number | undefined
}

export interface Settings {
  readonly pool: Pool | null
  readonly threshold: number
  readonly plan: ParsePlan
  /** The framework's own parser cannot do what the options ask for. */
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

const exportName: OptionRule<string | undefined> = value<string | undefined>(
  given => typeof given === 'string' && given !== '',
  "the name of an export of 'module', because functions cannot cross to a worker",
  { default: undefined },
)

const poisoning: OptionRule<Poisoning> = oneOf<Poisoning>(['error', 'remove', 'ignore'], {
  default: 'ignore',
})

const parseRules = {
  pool: value<Pool | null>(given => given === null || typeof (given as Pool).run === 'function', 'a Pool', {
    default: null,
  }),
  threshold: integer({ min: 0, orInfinity: true }, { default: 131_072 }),
  maxDepth: integer({ min: 0, orInfinity: true }, { default: NONE }),
  onProtoPoisoning: poisoning,
  onConstructorPoisoning: poisoning,
  module: unchecked<ParseOptions['module']>({
    default: undefined,
  }),
  base: unchecked<string | URL | undefined>({ default: undefined }),
  validate: exportName,
  select: exportName,
  reviver: exportName,
} satisfies RulesFor<ParseOptions>

/** body-parser checks the other values. A falsy `verify` counts as no `verify`, as in body-parser. */
const readRules = {
  limit: unchecked<ReadOptions['limit']>({ default: undefined }),
  inflate: unchecked<ReadOptions['inflate']>({ default: undefined }),
  type: unchecked<ReadOptions['type']>({ default: undefined }),
  verify: value<ReadOptions['verify']>(given => !given || typeof given === 'function', 'a function', {
    default: undefined,
  }),
} satisfies RulesFor<ReadOptions>

const strict = boolean({ default: true })
const maxLines = integer({ min: 0, orInfinity: true }, { default: 100_000 })

/** Fastify's parsers do not check `bodyLimit`: they ignore a value that is not a number. So this table checks it. */
const fastifyRules = {
  ...parseRules,
  bodyLimit: value<number | undefined>(
    given => given === NONE || (Number.isInteger(given) && (given as number) > 0),
    'an integer above 0, in bytes, or Infinity',
    { default: undefined },
  ),
  contentType: unchecked<string | RegExp | (string | RegExp)[] | undefined>({
    default: undefined,
  }),
}

export const tables = {
  json: new OptionTable({ ...parseRules, ...readRules, strict } satisfies RulesFor<JsonOptions>),
  ndjson: new OptionTable({ ...parseRules, ...readRules, maxLines } satisfies RulesFor<NdjsonOptions>),
  fastifyJson: new OptionTable(fastifyRules),
  fastifyNdjson: new OptionTable({ ...fastifyRules, maxLines }),
}

/**
 * Throws `InvalidOptionError`.
 * @param owner the name for the message, such as `json()`
 */
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
      `The option '${named[0]}' needs the option 'module', which is missing. Set it: module: () => import('./bodies.js'), base: import.meta.url.`,
    )
  }
  if (named.length === 0)
    return errors.contradiction(
      'module',
      `The option 'module' has no effect alone. Set at least one of ${functionOptions.join(', ')}.`,
    )
  const { validate = null, select = null, reviver = null } = options
  return { module: moduleUrl(options.module, options.base, errors), validate, select, reviver }
}

function moduleUrl(given: unknown, base: string | URL | undefined, errors: OptionErrors): string {
  if (typeof given === 'function') {
    const file = importedFile(given as () => Promise<object>, base)
    if (typeof file === 'string') return pathToFileURL(file).href
    return errors.contradiction('module', `The option 'module' ${file.problem}.`)
  }
  if (typeof given === 'string' && isAbsolute(given)) return pathToFileURL(given).href
  try {
    // Also throws for a file on another machine.
    fileURLToPath(given as string | URL)
    return new URL(given as string | URL).href
  } catch {
    const shown = given instanceof URL ? given.href : given
    return errors.wrong(
      'module',
      shown,
      "a function that imports a module, an absolute path, a 'file:' string or the URL of a file, on this machine",
    )
  }
}
