// When a connection closes. It has one listener, however many of its requests wait for their answers.
import type { EventEmitter } from 'node:events'

const waitingOn = new WeakMap<EventEmitter, Set<() => void>>()

/** Calls `closed` when the connection closes, unless what is returned was called before. */
export function onConnectionClosed(connection: EventEmitter, closed: () => void): () => void {
  let waiting = waitingOn.get(connection)
  if (waiting === undefined) {
    waiting = new Set()
    waitingOn.set(connection, waiting)
    connection.once('close', tellAll)
  }
  waiting.add(closed)
  return () => stopWaiting(connection, closed)
}

function stopWaiting(connection: EventEmitter, closed: () => void): void {
  const waiting = waitingOn.get(connection)
  if (waiting === undefined) return
  waiting.delete(closed)
  if (waiting.size > 0) return
  waitingOn.delete(connection)
  connection.off('close', tellAll)
}

function tellAll(this: EventEmitter): void {
  const waiting = waitingOn.get(this)
  waitingOn.delete(this)
  for (const closed of waiting ?? []) closed()
}
