// Whether the client of a request still waits for its answer. The answer's stream knows best: a request's own `close` only
// says that its body was read. Who has no answer at hand asks the connection.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { onConnectionClosed } from './connection.js'

export type RawRequest = IncomingMessage | Http2ServerRequest
export type RawResponse = ServerResponse | Http2ServerResponse

/** Why tasks of a request were cancelled, as `reason` of their `TaskCancelledError`. One object for all. */
export const clientGone: Error & { code: string } = Object.assign(
  new Error('The client closed the connection before it was answered.'),
  { code: 'ERR_LIDO_CLIENT_GONE' },
)
clientGone.stack = `${clientGone.name}: ${clientGone.message}`

/**
 * Calls `leave` once, when the client has gone before the answer was written; at once, when it has gone already. Without a
 * response it is up to the caller to stop listening, with what is returned, when its part of the answer is done.
 */
export function onClientGone(
  request: RawRequest,
  response: RawResponse | null,
  leave: () => void,
): () => void {
  const connection = connectionOf(request)
  const closed = () => {
    stopListening()
    if (response?.writableEnded !== true) leave()
  }
  // A request that came before the one ahead of it was answered has no socket to its answer yet, and hears of no close.
  const isApart = response === null || (!isStream(connection) && response.socket === null)
  const stopWaiting = isApart && connection !== null ? onConnectionClosed(connection, closed) : null
  const stopListening = () => {
    stopWaiting?.()
    response?.off('close', closed)
  }
  response?.once('close', closed)
  if (connection?.destroyed === true || response?.destroyed === true) closed()
  return stopListening
}

/** Runs `work` with a signal that aborts, by `clientGone`, when the client leaves before the work is done. */
export async function whileConnected<T>(
  request: RawRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const stopListening = onClientGone(request, null, () => controller.abort(clientGone))
  try {
    return await work(controller.signal)
  } finally {
    stopListening()
  }
}

/** A call's own signal counts beside the request's; what is none, the pool refuses in its own words. */
export function besideOwn(gone: AbortSignal, own: AbortSignal | undefined): AbortSignal {
  return own instanceof AbortSignal ? AbortSignal.any([gone, own]) : (own ?? gone)
}

/** Of HTTP/2 each request has a stream of its own. One that was made up, as of a serverless function, tells of no end. */
function connectionOf(request: RawRequest): Socket | ServerHttp2Stream | null {
  const isOfStream = request.httpVersionMajor === 2
  const connection = isOfStream ? (request as Http2ServerRequest).stream : request.socket
  return typeof connection?.once === 'function' ? connection : null
}

function isStream(connection: Socket | ServerHttp2Stream | null): connection is ServerHttp2Stream {
  return connection !== null && 'pushAllowed' in connection
}
