// Whether the client is still there, as a signal: it is aborted when the request's connection closes. A connection has one
// listener, however many of its requests wait for their answers.
import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { clientGone } from './problems.js'

const waitingOn = new WeakMap<EventEmitter, Set<AbortController>>()

/** Of HTTP/2 each request is a stream of its own. */
type Http2Request = IncomingMessage & { stream?: EventEmitter & { destroyed: boolean } }

/** Runs `work` with the signal. When it is aborted, its reason is the error that says so. */
export async function whileConnected<T>(
  request: IncomingMessage,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = (request as Http2Request).stream ?? request.socket
  const controller = new AbortController()
  if (connection.destroyed) controller.abort(clientGone())
  else listen(connection, controller)
  try {
    return await work(controller.signal)
  } finally {
    stopListening(connection, controller)
  }
}

function listen(connection: EventEmitter, controller: AbortController): void {
  let waiting = waitingOn.get(connection)
  if (waiting === undefined) {
    waiting = new Set()
    waitingOn.set(connection, waiting)
    connection.once('close', tellAll)
  }
  waiting.add(controller)
}

function stopListening(connection: EventEmitter, controller: AbortController): void {
  const waiting = waitingOn.get(connection)
  if (waiting === undefined) return
  waiting.delete(controller)
  if (waiting.size > 0) return
  waitingOn.delete(connection)
  connection.off('close', tellAll)
}

function tellAll(this: EventEmitter): void {
  for (const controller of waitingOn.get(this) ?? []) controller.abort(clientGone())
}
