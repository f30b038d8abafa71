// Finds and calls body-parser, which reads the bodies of Express and node:http. The copy that Express depends on comes
// first, because it behaves like Express's own parser.
import type { Http2ServerRequest } from 'node:http2'
import { createRequire } from 'node:module'
import { packagesFrom } from '../../kit.js'
import type { RawRequest, RawResponse } from '../http/client.js'
import { checkVersion } from '../packages/version.js'

export type Next = (error?: unknown) => void
export type Middleware = (request: RawRequest, response: RawResponse, next: Next) => void

export interface BodyParser {
  json(options: object): Middleware
}

export interface FoundBodyParser {
  readonly bodyParser: BodyParser
  /** The file of iconv-lite, which body-parser decodes with. */
  readonly charsets: string
}

/** No request of HTTP/2 has this header (RFC 9113, 8.2.2). */
const ANNOUNCING_HEADER = 'transfer-encoding'

let found: FoundBodyParser | null = null

export function findBodyParser(): FoundBodyParser {
  found ??= load()
  return found
}

function load(): FoundBodyParser {
  const require = requireOfBodyParser()
  checkVersion({ user: "'lido/body'", name: 'body-parser', oldest: '1.18.0' }, require)
  const bodyParser = require('body-parser') as BodyParser
  return { bodyParser, charsets: createRequire(require.resolve('body-parser')).resolve('iconv-lite') }
}

function requireOfBodyParser(): NodeJS.Require {
  const own = createRequire(packagesFrom())
  try {
    const throughExpress = createRequire(own.resolve('express'))
    throughExpress.resolve('body-parser')
    return throughExpress
  } catch {
    try {
      own.resolve('body-parser')
      return own
    } catch (problem) {
      throw new Error(notFoundMessage(problem), { cause: problem })
    }
  }
}

function notFoundMessage(problem: unknown): string {
  if ((problem as NodeJS.ErrnoException | null)?.code === 'MODULE_NOT_FOUND')
    return "The package 'body-parser', which reads bodies, is not installed. Run: npm install body-parser"
  return "The package 'body-parser' cannot be found because lido is part of a bundle. Exclude lido from the bundle and install it where the program runs."
}

/**
 * Calls `read` with a header that announces the body. The parser looks only at the headers of HTTP/1. A body of HTTP/2
 * needs no length, so without this header the parser would skip the body without an error. Later middleware sees the
 * original headers.
 */
export function withBodyAnnounced(request: RawRequest, next: Next, read: (next: Next) => void): void {
  if (request.httpVersionMajor !== 2 || !hasUnannouncedBody(request as Http2ServerRequest)) return read(next)
  const { headers } = request
  const removeHeader = () => delete headers[ANNOUNCING_HEADER]
  headers[ANNOUNCING_HEADER] = 'chunked'
  try {
    read(problem => {
      removeHeader()
      next(problem)
    })
  } finally {
    removeHeader()
  }
}

function hasUnannouncedBody({ headers, stream }: Http2ServerRequest): boolean {
  return headers['content-length'] === undefined && stream?.endAfterHeaders === false
}
