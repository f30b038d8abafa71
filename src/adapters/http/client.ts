// Detects that the client of a request has left. The response is the best source, because `close` of the request only
// means that its body was read. Without a response this file watches the connection.
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

export type RawRequest = IncomingMessage | Http2ServerRequest
export type RawResponse = ServerResponse | Http2ServerResponse

/** The `reason` of the `TaskCancelledError` when the client left. One object for all requests. */
export const clientGone: Error & { code: string } = Object.assign(
  new Error('The client closed the connection before it was answered.'),
  { code: 'ERR_LIDO_CLIENT_GONE' },
)
clientGone.stack = `${clientGone.name}: ${clientGone.message}`

/**
 * Calls `leave` once when the client leaves before the answer is written, or at once when it has already left. Without
 * a response the caller must call the returned function when its work is done.
 */
export function onClientGone(
  request: RawRequest,
  response: RawResponse | null,
  leave: () => void,
): () => void {
  const connection = connectionOf(request)
  const closed = () => {
    stop()
    if (response?.writableEnded !== true) leave()
  }
  // The response of a pipelined request has no socket yet, and emits no `close`.
  const isApart = response === null || (!isStream(connection) && response.socket === null)
  const stopWaiting = isApart && connection !== null ? onConnectionClosed(connection, closed) : null
  const stop = () => {
    stopWaiting?.()
    response?.off('close', closed)
  }
  response?.once('close', closed)
  if (connection?.destroyed === true || response?.destroyed === true) closed()
  return stop
}

/** Runs `work` with a signal that aborts with `clientGone` when the client leaves. */
export async function whileConnected<T>(
  request: RawRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const stop = onClientGone(request, null, () => controller.abort(clientGone))
  try {
    return await work(controller.signal)
  } finally {
    stop()
  }
}

/** Combines the signal of the request with the signal of the call. Returns other values for the pool to refuse. */
export function besideOwn(gone: AbortSignal, own: AbortSignal | undefined): AbortSignal {
  return own instanceof AbortSignal ? AbortSignal.any([gone, own]) : (own ?? gone)
}

/** In HTTP/2 each request has its own stream. A synthetic request, as in a serverless function, has no connection. */
function connectionOf(request: RawRequest): Socket | ServerHttp2Stream | null {
  const isOfStream = request.httpVersionMajor === 2
  const connection = isOfStream ? (request as Http2ServerRequest).stream : request.socket
  return typeof connection?.once === 'function' ? connection : null
}

function isStream(connection: Socket | ServerHttp2Stream | null): connection is ServerHttp2Stream {
  return connection !== null && 'pushAllowed' in connection
}

/** Callbacks for the end of a connection. A connection has one listener for all its requests. */
const closeCallbacks = new WeakMap<EventEmitter, Set<() => void>>()

/** Calls back when the connection closes. Returns a function that stops listening. */
function onConnectionClosed(connection: EventEmitter, callback: () => void): () => void {
  let callbacks = closeCallbacks.get(connection)
  if (callbacks === undefined) {
    callbacks = new Set()
    closeCallbacks.set(connection, callbacks)
    connection.once('close', callAll)
  }
  callbacks.add(callback)
  return () => stopListening(connection, callback)
}

function stopListening(connection: EventEmitter, callback: () => void): void {
  const callbacks = closeCallbacks.get(connection)
  if (callbacks === undefined) return
  callbacks.delete(callback)
  if (callbacks.size > 0) return
  closeCallbacks.delete(connection)
  connection.off('close', callAll)
}

function callAll(this: EventEmitter): void {
  const callbacks = closeCallbacks.get(this)
  closeCallbacks.delete(this)
  for (const callback of callbacks ?? []) callback()
}
