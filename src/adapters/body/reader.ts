// The same as promises, for servers of plain `node:http` and `node:http2`.
import type { RawRequest } from '../http/client.js'
import { type BodyMiddleware, json, ndjson } from './middleware.js'
import type { JsonOptions, NdjsonOptions } from './options.js'
import { requestAborted } from './problems.js'

export interface BodyReader<Body = any> {
  /**
   * Resolves to the body; to `undefined` when the request has none or one of another type. Rejects with an `HttpProblem`,
   * whose `status`, `headers` and, if `expose` is true, `message` are for the client, or with what a function of the
   * `module` threw. Its `type` is `request.aborted` when the client left before its body was read.
   */
  (request: RawRequest): Promise<Body>
  /** Closes the pool that parses, unless it was given. Later large bodies reject with status 503. */
  close(): Promise<void>
}

/** Throws `InvalidOptionError`, and an `Error` when body-parser is not installed. */
export function jsonReader<Body = any>(options?: JsonOptions): BodyReader<Body> {
  return readerOf(json(options))
}

/** Throws as `jsonReader()` does. */
export function ndjsonReader<Line = any>(options?: NdjsonOptions): BodyReader<Line[]> {
  return readerOf(ndjson(options))
}

function readerOf<Body>(middleware: BodyMiddleware): BodyReader<Body> {
  // A request that is read out looks as one without a body until its body is parsed: who asks then waits with who asked first.
  const pending = new WeakMap<RawRequest, Promise<Body>>()
  const read = (request: RawRequest & { body?: Body | undefined }) => {
    const begun = pending.get(request)
    if (begun !== undefined) return begun
    const body = new Promise<Body>((resolve, reject) => {
      const isReadAlready = request.body !== undefined
      let isAtOnce = true
      // body-parser hands the response to `verify` and has no other use for it.
      middleware(request, undefined as never, problem => {
        // What it passes over, version 1 leaves with an empty object.
        if (isAtOnce && !isReadAlready) request.body = undefined
        if (problem) reject(problem as Error)
        // It passes over a request whose client has left, as over one without a body.
        else if (!isReadAlready && request.aborted) reject(requestAborted())
        else resolve(request.body as Body)
      })
      isAtOnce = false
      // body-parser listens to the stream that decompresses, which hears of no abort.
      const { 'content-encoding': encoding = 'identity' } = request.headers
      if (encoding.toLowerCase() !== 'identity') request.once('aborted', () => reject(requestAborted()))
    }).finally(() => pending.delete(request))
    pending.set(request, body)
    return body
  }
  return Object.assign(read, { close: () => middleware.close() })
}
