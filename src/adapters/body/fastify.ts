// JSON and NDJSON bodies for Fastify: a plugin that replaces Fastify's content type parsers. Fastify reads the body and
// parses bodies below the threshold. The plugin imports nothing from Fastify; it uses the instance.
import { ownFields } from '../../kit.js'
import type { RawRequest } from '../http/client.js'
import { asPlugin } from '../http/fastify-plugin.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { fastifysOwn } from '../http/record.js'
import {
  linesTypes,
  type ParseOptions,
  readOptions,
  resolveParsing,
  type Settings,
  tables,
} from './options.js'
import type { ParseOutcome, ParsePlan } from './parse-plan.js'
import { ParsingPool, parseInPlace, parseInPool } from './parsing-pool.js'
import { httpProblem, tooDeep, tooManyLines } from './problems.js'

/** The options of `fastifyJson`. */
export interface FastifyJsonOptions extends ParseOptions {
  /**
   * Bytes. Default: the instance's `bodyLimit`. The `bodyLimit` of a route has precedence.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  bodyLimit?: number | undefined
  /**
   * Default `'application/json'`; for `fastifyNdjson` the NDJSON types.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  contentType?: string | RegExp | (string | RegExp)[] | undefined
}

/** The options of `fastifyNdjson`. */
export interface FastifyNdjsonOptions extends FastifyJsonOptions {
  /**
   * Values above which a body is refused with 413. Default 100,000.
   * @see [lido/express and lido/body](https://OWNER.github.io/lido/reference/body.html)
   */
  maxLines?: number | undefined
}

type Registered = (error?: Error) => void
type Done = (error: Error | null, body?: unknown) => void
type Parser = (request: any, body: any, done: Done) => void

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyInstanceLike {
  /** The options of the server. */
  readonly initialConfig: object
  /** Registers a parser for a content type. */
  addContentTypeParser(contentType: any, options: any, parser: any): unknown
  /** Fastify's own parser. */
  getDefaultJsonParser(onProtoPoisoning: any, onConstructorPoisoning: any): unknown
  /** Registers a hook. */
  addHook(name: any, hook: any): unknown
}

/** A plugin with its options. */
export type FastifyBodyPlugin = (
  instance: FastifyInstanceLike,
  options: unknown,
  done: (error?: Error) => void,
) => void

/** A plugin for Fastify, or a function that returns one with options. */
export interface FastifyBodyDoor<Options> {
  (options?: Options): FastifyBodyPlugin
  (instance: FastifyInstanceLike, options: Options, done: (error?: Error) => void): void
}

/**
 * Register it with `await fastify.register(fastifyJson, { … })`, or with `fastify.register(fastifyJson({ … }))`, which
 * throws `InvalidOptionError` synchronously.
 */
export const fastifyJson: FastifyBodyDoor<FastifyJsonOptions> = doorOf(
  'lido-json',
  'json',
  'application/json',
)

/** For bodies with one JSON value per line. `request.body` is the array of the values. */
export const fastifyNdjson: FastifyBodyDoor<FastifyNdjsonOptions> = doorOf('lido-ndjson', 'lines', linesTypes)

function doorOf(
  name: string,
  format: ParsePlan['format'],
  otherwise: string | string[],
): FastifyBodyDoor<FastifyNdjsonOptions> {
  const read = (given: unknown) =>
    format === 'lines'
      ? readOptions(tables.fastifyNdjson, given, name)
      : { ...readOptions(tables.fastifyJson, given, name), maxLines: Number.POSITIVE_INFINITY }
  const parsingOf = (options: ReturnType<typeof read>) =>
    resolveParsing(options, { format, isStrict: false, maxLines: options.maxLines })
  const register = (instance: FastifyInstanceLike, given: FastifyNdjsonOptions, done: Registered) => {
    try {
      // The rules for prototype keys default to those of the instance.
      const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } = ownFields(
        instance.initialConfig as ParseOptions,
      )
      const options = read({ onProtoPoisoning, onConstructorPoisoning, ...withoutFastifys(given) })
      const { contentType = otherwise, bodyLimit } = options
      const settings = parsingOf(options)
      const plan: ParsePlan = { ...settings.plan, isEmptyObject: false }
      const own = instance.getDefaultJsonParser(plan.onProtoPoisoning, plan.onConstructorPoisoning) as Parser
      const pool = new ParsingPool(settings.pool)
      const parser = parserOf({ ...settings, plan }, pool, own)
      instance.addContentTypeParser(contentType, { parseAs: 'buffer', bodyLimit }, parser)
      const furtherServersClosed = watchFurtherServers(instance)
      instance.addHook('onClose', async () => {
        await furtherServersClosed()
        await pool.close()
      })
    } catch (refusal) {
      // An error thrown by a plugin would be uncaught. With `done`, `register()` and `ready()` reject.
      return done(refusal as Error)
    }
    done()
  }
  // Fastify passes `done` as the third argument. A call without it comes from the user.
  function door(given: any, options?: FastifyNdjsonOptions, done?: Registered): any {
    if (done !== undefined) return register(given, options!, done)
    // Invalid options throw in the user's call, not later in `register()`.
    parsingOf(read(given))
    const plugin: FastifyBodyPlugin = (instance, _options, done) => register(instance, given, done)
    return asPlugin(plugin, name)
  }
  return asPlugin(door, name)
}

function parserOf({ plan, threshold }: Settings, pool: ParsingPool, own: Parser): Parser {
  const isFrameworks =
    plan.format === 'json' && plan.functions === null && plan.maxDepth === Number.POSITIVE_INFINITY
  return (request: { raw: RawRequest }, bytes: Buffer, done) => {
    const isLarge = bytes.length >= threshold && bytes.length > 0
    if (!isLarge && (isFrameworks || (bytes.length === 0 && plan.format === 'json')))
      // Fastify before 4.20 takes an empty buffer for invalid JSON.
      return own(request, bytes.length === 0 ? '' : bytes, done)
    const parsing = isLarge ? parseInPool(pool, request.raw, bytes, plan) : parseInPlace(bytes, plan)
    const settle = (outcome: ParseOutcome) => {
      if (outcome.kind === 'value') done(null, outcome.value)
      else done(problemOf(outcome, plan, () => ownSyntaxError(own, request)))
    }
    parsing.then(settle, done)
  }
}

/** Returns the error of Fastify's parser for invalid JSON. */
function ownSyntaxError(own: Parser, request: unknown): Error {
  let refusal!: Error
  own(request, '{', error => {
    refusal = error!
  })
  return refusal
}

function problemOf(
  outcome: Exclude<ParseOutcome, { kind: 'value' }>,
  plan: ParsePlan,
  syntaxError: () => Error,
): Error {
  switch (outcome.kind) {
    case 'malformed': {
      const { message, line } = outcome
      const own = syntaxError()
      if (line > 0) return Object.assign(own, { message, line })
      // Older versions of Fastify pass on the error of `JSON.parse()`. Newer versions have one error for all invalid JSON.
      return own instanceof SyntaxError && !('code' in own)
        ? Object.assign(new SyntaxError(message), { statusCode: 400 })
        : own
    }
    case 'tooDeep':
      return tooDeep(plan.maxDepth)
    case 'tooManyLines':
      return tooManyLines(plan.maxLines)
    case 'invalid':
      return notValid(outcome.issues)
  }
}

/** The error that Fastify creates when a schema refuses a body. */
function notValid(issues: unknown): Error {
  const validation = Array.isArray(issues) ? issues : [issues]
  const { instancePath = '', message = 'is not valid' } = Object(validation[0])
  const fields = { code: 'FST_ERR_VALIDATION', validation, validationContext: 'body' }
  return httpProblem(new Error(`body${instancePath} ${message}`), 400, 'entity.invalid', fields)
}

/** Removes Fastify's own options, and options that are `undefined`. */
function withoutFastifys(options: object): object {
  return Object.fromEntries(
    Object.entries(options ?? {}).filter(
      ([name, value]) => !fastifysOwn.includes(name) && value !== undefined,
    ),
  )
}
