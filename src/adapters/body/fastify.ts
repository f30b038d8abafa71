// JSON and NDJSON bodies for Fastify, as a plugin that puts content type parsers in the place of its own. Fastify reads, and
// below the threshold its own parser parses. Nothing of Fastify is imported: what is needed, the instance gives.
import type { RawRequest } from '../http/client.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { fastifysOwn } from '../http/record.js'
import { parseInPlace, parseInPool } from './large-body.js'
import {
  linesTypes,
  ownOptions,
  type ParseOptions,
  parseOptionNames,
  resolveBodyLimit,
  resolveParsing,
  type Settings,
} from './options.js'
import { PoolOfReader } from './own-pool.js'
import type { Outcome, Plan } from './plan.js'
import { httpProblem, tooDeep, tooManyLines } from './problems.js'

export interface FastifyJsonOptions extends ParseOptions {
  /** Bytes. Default: the instance's `bodyLimit`. A route's own `bodyLimit` goes before. */
  bodyLimit?: number | undefined
  /** Default `'application/json'`, of lines the types of NDJSON. */
  contentType?: string | RegExp | (string | RegExp)[] | undefined
}

export interface FastifyNdjsonOptions extends FastifyJsonOptions {
  /** Values above which a body is refused with 413. Default 100,000. */
  maxLines?: number | undefined
}

type Registered = (error?: Error) => void
type Done = (error: Error | null, body?: unknown) => void
type Parser = (request: any, body: any, done: Done) => void

/** What the plugin needs of an instance. */
export interface FastifyInstanceLike {
  readonly initialConfig: object
  addContentTypeParser(contentType: any, options: any, parser: any): unknown
  getDefaultJsonParser(onProtoPoisoning: any, onConstructorPoisoning: any): unknown
  addHook(name: any, hook: any): unknown
}

export type FastifyBodyPlugin = (
  instance: FastifyInstanceLike,
  options: unknown,
  done: (error?: Error) => void,
) => void

export interface FastifyBodyDoor<Options> {
  (options?: Options): FastifyBodyPlugin
  (instance: FastifyInstanceLike, options: Options, done: (error?: Error) => void): void
}

/** `await fastify.register(fastifyJson, { … })`, or `fastifyJson({ … })`, which throws at once. */
export const fastifyJson: FastifyBodyDoor<FastifyJsonOptions> = doorOf(
  'lido-json',
  'json',
  'application/json',
)

/** One JSON value on each line; `request.body` is the array of them. */
export const fastifyNdjson: FastifyBodyDoor<FastifyNdjsonOptions> = doorOf(
  'lido-ndjson',
  'lines',
  linesTypes,
  ['maxLines'],
)

function doorOf(
  name: string,
  format: Plan['format'],
  otherwise: string | string[],
  further: string[] = [],
): FastifyBodyDoor<FastifyNdjsonOptions> {
  const known = [...parseOptionNames, 'bodyLimit', 'contentType', ...further]
  // It is for the instance that registers it, not for a scope of its own.
  const meta = {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: name,
    [Symbol.for('plugin-meta')]: { name, fastify: '5.x' },
  }
  const register = (instance: FastifyInstanceLike, given: FastifyNdjsonOptions, done: Registered) => {
    try {
      const options = ownOptions(given, [...known, ...fastifysOwn])
      const { contentType = otherwise } = options
      const bodyLimit = resolveBodyLimit(options)
      // What is not said of keys that poison is as the instance has it.
      const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } =
        instance.initialConfig as ParseOptions
      const rules = { onProtoPoisoning, onConstructorPoisoning, strict: false, ...options }
      const settings = resolveParsing(rules, format)
      const plan: Plan = { ...settings.plan, isEmptyObject: false }
      const own = instance.getDefaultJsonParser(plan.onProtoPoisoning, plan.onConstructorPoisoning) as Parser
      const holder = new PoolOfReader(settings.pool)
      const parser = parserOf({ ...settings, plan }, holder, own)
      instance.addContentTypeParser(contentType, { parseAs: 'buffer', bodyLimit }, parser)
      const furtherServersClosed = watchFurtherServers(instance)
      instance.addHook('onClose', async () => {
        await furtherServersClosed()
        await holder.close()
      })
    } catch (refusal) {
      // Thrown out of a plugin it would be uncaught; told like this, `register()` and `ready()` reject with it.
      return done(refusal as Error)
    }
    done()
  }
  // Fastify gives all three, and waits for `done` where there are so many.
  function door(given: any, options?: FastifyNdjsonOptions, done?: Registered): any {
    if (done !== undefined) return register(given, options!, done)
    // What is wrong with the options is told where they are given.
    const own = ownOptions<FastifyNdjsonOptions>(given, known)
    resolveBodyLimit(own)
    resolveParsing(own, format)
    const plugin: FastifyBodyPlugin = (instance, _options, done) => register(instance, own, done)
    return Object.assign(plugin, meta)
  }
  return Object.assign(door, meta)
}

function parserOf({ plan, threshold }: Settings, holder: PoolOfReader, own: Parser): Parser {
  const isFrameworks =
    plan.format === 'json' && plan.functions === null && plan.maxDepth === Number.POSITIVE_INFINITY
  return (request: { raw: RawRequest }, bytes: Buffer, done) => {
    const isLarge = bytes.length >= threshold && bytes.length > 0
    if (!isLarge && (isFrameworks || (bytes.length === 0 && plan.format === 'json')))
      return own(request, bytes, done)
    const parsing = isLarge ? parseInPool(holder, request.raw, bytes, plan) : parseInPlace(bytes, plan)
    const settle = (outcome: Outcome) => {
      if (outcome.kind === 'value') done(null, outcome.value)
      else done(problemOf(outcome, plan, () => ownComplaint(own, request)))
    }
    parsing.then(settle, done)
  }
}

/** Fastify's own error, had from its own parser by the shortest text that is no JSON. */
function ownComplaint(own: Parser, request: unknown): Error {
  let complaint!: Error
  own(request, '{', error => {
    complaint = error!
  })
  return complaint
}

function problemOf(outcome: Exclude<Outcome, { kind: 'value' }>, plan: Plan, complain: () => Error): Error {
  switch (outcome.kind) {
    case 'malformed':
      return outcome.line === 0
        ? complain()
        : Object.assign(complain(), { message: outcome.message, line: outcome.line })
    case 'tooDeep':
      return tooDeep(plan.maxDepth)
    case 'tooManyLines':
      return tooManyLines(plan.maxLines)
    case 'invalid':
      return notValid(outcome.issues)
  }
}

/** As when a schema of Fastify's refuses a body. */
function notValid(issues: unknown): Error {
  const validation = Array.isArray(issues) ? issues : [issues]
  const { instancePath = '', message = 'is not valid' } = Object(validation[0])
  const fields = { code: 'FST_ERR_VALIDATION', validation, validationContext: 'body' }
  return httpProblem(new Error(`body${instancePath} ${message}`), 400, 'entity.invalid', fields)
}
