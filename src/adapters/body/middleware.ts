// JSON and NDJSON bodies as middleware, for Express and whatever calls `(request, response, next)`. body-parser reads,
// decompresses and refuses; where it shows the bytes before it parses them, the large ones are taken out of its hands.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawRequest, RawResponse } from '../http/client.js'
import { withBodyAnnounced } from './announcement.js'
import { parseInPlace, parseInPool } from './large-body.js'
import {
  type JsonOptions,
  linesTypes,
  type NdjsonOptions,
  ownOptions,
  parseOptionNames,
  type ReadOptions,
  readOptionNames,
  resolveParsing,
  type Settings,
  verifierOf,
} from './options.js'
import { PoolOfReader } from './own-pool.js'
import { findBodyParser, type Middleware, type Next } from './peer.js'
import type { Outcome, Plan } from './plan.js'
import { invalid, malformed, tooDeep, tooManyLines } from './problems.js'
import { textOf } from './text.js'

export interface BodyMiddleware {
  (request: RawRequest, response: RawResponse, next: Next): void
  /** Closes the pool that parses, unless it was given. Later large bodies are answered with 503. */
  close(): Promise<void>
}

/**
 * What `express.json()` does, with bodies from `threshold` bytes on parsed in the pool; the result is `request.body`.
 * Throws `InvalidOptionError`, and an `Error` when body-parser is not installed.
 */
export function json(options?: JsonOptions): BodyMiddleware {
  const own = ownOptions(options, [...parseOptionNames, ...readOptionNames, 'strict'])
  return build(own, resolveParsing(own, 'json'))
}

/**
 * Bodies of one JSON value on each line; `request.body` is the array of them. Blank lines are passed over. Throws as
 * `json()` does.
 */
export function ndjson(options?: NdjsonOptions): BodyMiddleware {
  const own = ownOptions(options, [...parseOptionNames, ...readOptionNames, 'maxLines'])
  return build({ type: linesTypes, ...own }, resolveParsing(own, 'lines'))
}

/** What `verify` throws instead of a complaint: body-parser hands it to `next`, where it is caught. */
class Taken extends Error {
  readonly bytes: Buffer
  readonly charset: string

  constructor(bytes: Buffer, charset: string) {
    super('This body is parsed elsewhere')
    this.bytes = bytes
    this.charset = charset
  }
}

function build(options: ReadOptions, settings: Settings): BodyMiddleware {
  const { limit, inflate, type } = options
  const verify = verifierOf(options)
  const { threshold, isSpecial, plan } = settings
  const { bodyParser, charsets } = findBodyParser()
  const holder = new PoolOfReader(settings.pool)
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
    const own: Plan = { ...plan, charset, charsets }
    const isLarge = bytes.length >= threshold
    // A program's own `verify` may have kept the bytes, as for a signature that is looked at later.
    const outcome = isLarge
      ? await parseInPool(holder, request, bytes, own, verify !== null)
      : await parseInPlace(bytes, own)
    // Where the request does not let itself be given one, that is told as all else is.
    Object.assign(request, { body: bodyOf(outcome, own) })
  }

  function middleware(request: RawRequest, response: RawResponse, next: Next): void {
    const whenRead = (problem: unknown) => {
      if (!(problem instanceof Taken)) return next(problem)
      giveBody(request, problem).then(() => next(), next)
    }
    withBodyAnnounced(request, whenRead, next => read(request, response, next))
  }
  return Object.assign(middleware, { close: () => holder.close() })
}

/** A stack would cost more than all the rest. */
function take(bytes: Buffer, charset: string): Taken {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const taken = new Taken(bytes, charset)
  Error.stackTraceLimit = stackTraceLimit
  return taken
}

function bodyOf(outcome: Outcome, plan: Plan): unknown {
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
