// What Piscina takes as a signal: an AbortSignal, or an event emitter whose 'abort' event cancels the task.
import type { EventEmitter } from 'node:events'

export type AbortSignalAny = AbortSignal | EventEmitter

export interface BridgedSignal {
  signal: AbortSignal
  /** Takes the listener off again. */
  release(): void
}

/** Throws a TypeError, in the words of a call that fails, when it is neither. */
export function bridgeSignal(given: object): BridgedSignal {
  if (isAbortSignal(given)) return { signal: given, release() {} }
  const emitter = given as EventEmitter
  if (typeof emitter.once !== 'function') throw new TypeError('abortSignal.once is not a function')
  const controller = new AbortController()
  const onAbort = () => controller.abort(NO_REASON)
  emitter.once('abort', onAbort)
  return { signal: controller.signal, release: () => emitter.removeListener('abort', onAbort) }
}

/** An emitter gives no reason, and its error has no cause. */
export const NO_REASON: unique symbol = Symbol('lido.piscina.noReason')

function isAbortSignal(given: object): given is AbortSignal {
  return 'addEventListener' in given
}
