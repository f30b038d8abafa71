// Wraps the middleware in functions that return promises, for servers of `node:http` and `node:http2`.
import type { RawRequest } from '../http/client.js'
import { type BodyMiddleware, json, ndjson } from './middleware.js'
import type { JsonOptions, NdjsonOptions } from './options.js'
import { requestAborted } from './problems.js'

/** Reads and parses the body of a request. */
export interface BodyReader<Body = any> {
  /**
   * Resolves to the body, or to `undefined` when the request has no body or a body of another type.
   * Rejects with the error of a function of `module`, or with an `HttpProblem`. Send its `status` and `headers` to the
   * client, and its `message` if `expose` is true. Its `type` is `request.aborted` when the client left before the body
   * was read.
   */
  (request: RawRequest): Promise<Body>
  /** Closes the shared pool when no reader uses it. Later large bodies reject with status 503. */
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
  // While the body is parsed, `request.body` is missing. A second call returns the promise of the first call.
  const pending = new WeakMap<RawRequest, Promise<Body>>()
  const read = (request: RawRequest & { body?: Body | undefined }) => {
    const known = pending.get(request)
    if (known !== undefined) return known
    const body = new Promise<Body>((resolve, reject) => {
      const isReadAlready = request.body !== undefined
      // body-parser skips a request whose client has left, or waits for it without an end.
      if (!isReadAlready && request.aborted) return reject(requestAborted())
      let isSynchronous = true
      // body-parser only passes the response to `verify`.
      middleware(request, undefined as never, problem => {
        // body-parser 1 sets an empty object on a request that it skips.
        if (isSynchronous && !isReadAlready) request.body = undefined
        if (problem) reject(problem as Error)
        else resolve(request.body as Body)
      })
      isSynchronous = false
      // body-parser listens to the decompressing stream, which emits no `aborted`.
      const { 'content-encoding': encoding = 'identity' } = request.headers
      if (encoding.toLowerCase() !== 'identity') request.once('aborted', () => reject(requestAborted()))
    }).finally(() => pending.delete(request))
    pending.set(request, body)
    return body
  }
  return Object.assign(read, { close: () => middleware.close() })
}
