// JSON and NDJSON bodies as middleware for Express and compatible servers. body-parser reads the body, decompresses it
// and checks the limit. It calls `verify` with the bytes before it parses them. For a large body `verify` throws, and
// the pool parses the body.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawRequest, RawResponse } from '../http/client.js'
import { findBodyParser, type Middleware, type Next, withBodyAnnounced } from './body-parser.js'
import {
  type JsonOptions,
  linesTypes,
  type NdjsonOptions,
  type ReadOptions,
  readOptions,
  resolveParsing,
  type Settings,
  tables,
} from './options.js'
import type { ParseOutcome, ParsePlan } from './parse-plan.js'
import { textOf } from './parse-text.js'
import { ParsingPool, parseInPlace, parseInPool } from './parsing-pool.js'
import { invalid, malformed, tooDeep, tooManyLines, withoutAbortStack } from './problems.js'

/** A middleware that parses bodies. */
export interface BodyMiddleware {
  (request: RawRequest, response: RawResponse, next: Next): void
  /** Closes the shared pool when no reader uses it. Later large bodies are answered with 503. */
  close(): Promise<void>
}

/**
 * Like `express.json()`, but the pool parses bodies from `threshold` bytes on. The result is `request.body`.
 * Throws `InvalidOptionError`, and an `Error` when body-parser is not installed.
 */
export function json(options?: JsonOptions): BodyMiddleware {
  const own = readOptions(tables.json, options, 'json()')
  return build(own, resolveParsing(own, { format: 'json', isStrict: own.strict, maxLines: NO_LIMIT }))
}

/** For bodies with one JSON value per line. `request.body` is an array without blank lines. Throws as `json()` does. */
export function ndjson(options?: NdjsonOptions): BodyMiddleware {
  const own = readOptions(tables.ndjson, options, 'ndjson()')
  return build(
    { ...own, type: own.type ?? linesTypes },
    resolveParsing(own, { format: 'lines', isStrict: true, maxLines: own.maxLines }),
  )
}

const NO_LIMIT = Number.POSITIVE_INFINITY

/** Thrown by `verify`. body-parser passes it to `next`, which recognises it. */
class Taken extends Error {
  readonly bytes: Buffer
  readonly charset: string

  constructor(bytes: Buffer, charset: string) {
    super('The pool parses this body')
    this.bytes = bytes
    this.charset = charset
  }
}

function build(options: ReadOptions, settings: Settings): BodyMiddleware {
  const { limit, inflate, type } = options
  const verify = options.verify || null
  const { threshold, isSpecial, plan } = settings
  const { bodyParser, charsets } = findBodyParser()
  const pool = new ParsingPool(settings.pool)
  const read: Middleware = bodyParser.json({
    limit,
    inflate,
    type,
    strict: plan.isStrict,
    verify(request: IncomingMessage, response: ServerResponse, bytes: Buffer, charset: string) {
      verify?.(request, response, bytes, charset)
      if (isSpecial || bytes.length >= threshold) throw take(bytes, charset)
    },
  })

  async function giveBody(request: RawRequest, { bytes, charset }: Taken): Promise<void> {
    const own: ParsePlan = { ...plan, charset, charsets }
    const isLarge = bytes.length >= threshold
    // The user's `verify` may keep the bytes, for example to check a signature later.
    const outcome = isLarge
      ? await parseInPool(pool, request, bytes, own, verify !== null)
      : await parseInPlace(bytes, own)
    // A frozen request makes this throw, and `next` gets the error.
    Object.assign(request, { body: bodyOf(outcome, own) })
  }

  function middleware(request: RawRequest, response: RawResponse, next: Next): void {
    const whenRead = (problem: unknown) => {
      if (!(problem instanceof Taken)) return next(withoutAbortStack(problem))
      giveBody(request, problem).then(() => next(), next)
    }
    withBodyAnnounced(request, whenRead, next => read(request, response, next))
  }
  return Object.assign(middleware, { close: () => pool.close() })
}

/** Creates the error without a stack, which would cost more than the rest of the middleware. */
function take(bytes: Buffer, charset: string): Taken {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const taken = new Taken(bytes, charset)
  Error.stackTraceLimit = stackTraceLimit
  return taken
}

function bodyOf(outcome: ParseOutcome, plan: ParsePlan): unknown {
  switch (outcome.kind) {
    case 'value':
      return outcome.value
    case 'malformed':
      throw malformed(outcome.message, outcome.line, () => textOf(outcome.bytes, plan.charset, plan.charsets))
    case 'tooDeep':
      throw tooDeep(plan.maxDepth)
    case 'tooManyLines':
      throw tooManyLines(plan.maxLines)
    case 'invalid':
      throw invalid(outcome.issues)
  }
}
