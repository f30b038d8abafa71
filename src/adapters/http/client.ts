// Whether the client of a request still waits for its answer. The answer's stream knows: a request's own `close` only says
// that its body was read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'

export type RawRequest = IncomingMessage | Http2ServerRequest
export type RawResponse = ServerResponse | Http2ServerResponse

/** Why tasks of a request were cancelled, as `reason` of their `TaskCancelledError`. One object for all. */
export const clientGone: Error & { code: string } = Object.assign(
  new Error('The client closed the connection before it was answered.'),
  { code: 'ERR_LIDO_CLIENT_GONE' },
)
clientGone.stack = `${clientGone.name}: ${clientGone.message}`

/** Calls `leave` once, when the client has gone before the answer was written; at once, when it has gone already. */
export function onClientGone(request: RawRequest, response: RawResponse, leave: () => void): void {
  if (hasGone(request, response)) {
    if (!response.writableEnded) leave()
    return
  }
  // A request that came before the one ahead of it was answered has no socket to its answer yet, and hears of no close.
  const socket = 'stream' in response || response.socket !== null ? null : request.socket
  const closed = () => {
    socket?.off('close', closed)
    response.off('close', closed)
    if (!response.writableEnded) leave()
  }
  socket?.once('close', closed)
  response.once('close', closed)
}

function hasGone(request: RawRequest, response: RawResponse): boolean {
  if ('stream' in response) return response.stream.destroyed
  return response.destroyed || request.socket?.destroyed === true
}
