// Converts the signals that Piscina accepts to an AbortSignal. An event emitter with an 'abort' event counts as a
// signal.

/** Piscina calls `removeListener`. Some emitters have only `off`. */
type SignalEmitter = { once(name: 'abort', listener: () => void): unknown } & (
  | { removeListener(name: 'abort', listener: () => void): unknown }
  | { off(name: 'abort', listener: () => void): unknown }
)

interface SignalTarget {
  addEventListener(name: 'abort', listener: () => void): unknown
  removeEventListener(name: 'abort', listener: () => void): unknown
  readonly aborted?: boolean
  readonly reason?: unknown
}

/** An `AbortSignal`, an `EventEmitter`, or an object with the same methods. */
export type AbortSignalAny = SignalTarget | SignalEmitter

export interface BridgedSignal {
  signal: AbortSignal
  /** Call it when the task has settled. The last task of a signal removes the listener. */
  release(): void
}

interface Bridge {
  controller: AbortController
  tasks: number
  onAbort: () => void
}

const bridges = new WeakMap<object, Bridge>()

/** Throws the TypeError of Piscina when the value is neither a target nor an emitter. */
export function bridgeSignal(given: object): BridgedSignal {
  if (given instanceof AbortSignal) return { signal: given, release() {} }
  if ((given as Partial<AbortSignal>).aborted)
    return { signal: AbortSignal.abort(reasonOf(given)), release() {} }
  const bridge = bridges.get(given) ?? build(given)
  bridge.tasks++
  return {
    signal: bridge.controller.signal,
    release() {
      if (--bridge.tasks > 0) return
      // After an abort, a later task may have stored a new bridge for this emitter.
      if (bridges.get(given) === bridge) bridges.delete(given)
      listen(given, 'off', bridge.onAbort)
    },
  }
}

/** Adds one listener for all tasks that share the emitter. */
function build(given: object): Bridge {
  const controller = new AbortController()
  const onAbort = () => {
    bridges.delete(given)
    controller.abort(reasonOf(given))
  }
  const bridge: Bridge = { controller, tasks: 0, onAbort }
  listen(given, 'on', onAbort)
  bridges.set(given, bridge)
  return bridge
}

function listen(given: object, how: 'on' | 'off', onAbort: () => void): void {
  if (isEventTarget(given)) {
    if (how === 'on') given.addEventListener('abort', onAbort)
    else given.removeEventListener?.('abort', onAbort)
    return
  }
  const emitter = given as SignalEmitter
  if (typeof emitter.once !== 'function') throw new TypeError('abortSignal.once is not a function')
  if (how === 'on') emitter.once('abort', onAbort)
  else if ('removeListener' in emitter) emitter.removeListener('abort', onAbort)
  else emitter.off('abort', onAbort)
}

/** Marks an abort by an emitter. It has no reason, so the error gets no cause. */
export const NO_REASON: unique symbol = Symbol('lido.piscina.noReason')

function reasonOf(given: object): unknown {
  return (given as Partial<AbortSignal>).reason ?? NO_REASON
}

function isEventTarget(given: object): given is EventTarget {
  return 'addEventListener' in given
}
