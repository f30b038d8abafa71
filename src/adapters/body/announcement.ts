// Whether a request has a body, told to body-parser in the only words it knows: the headers of HTTP/1. Over HTTP/2 a body need
// not say how long it is, and what is not announced is taken for no body, without an error.
import type { Http2ServerRequest } from 'node:http2'
import type { RawRequest } from '../http/client.js'
import type { Next } from './peer.js'

/** No request of HTTP/2 has this header itself; see RFC 9113, 8.2.2. */
const ANNOUNCING = 'transfer-encoding'

/** Calls `read`, which looks at the headers before it returns; who comes after `next` sees those that were sent. */
export function withBodyAnnounced(request: RawRequest, next: Next, read: (next: Next) => void): void {
  if (request.httpVersionMajor !== 2 || !comesUnannounced(request as Http2ServerRequest)) return read(next)
  const { headers } = request
  const takeBack = () => delete headers[ANNOUNCING]
  headers[ANNOUNCING] = 'chunked'
  try {
    read(problem => {
      takeBack()
      next(problem)
    })
  } finally {
    takeBack()
  }
}

function comesUnannounced({ headers, stream }: Http2ServerRequest): boolean {
  return headers['content-length'] === undefined && stream?.endAfterHeaders === false
}
