// What Piscina takes as a signal: an AbortSignal, or an event emitter whose 'abort' event cancels the task.

/** Piscina itself calls `removeListener`; some have `off` only. */
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

/** Whatever tells of an abort by an event: an `AbortSignal`, an `EventEmitter`, or what looks like one of them. */
export type AbortSignalAny = SignalTarget | SignalEmitter

export interface BridgedSignal {
  signal: AbortSignal
  /** Takes the listener off again. */
  release(): void
}

interface Bridge {
  controller: AbortController
  tasks: number
  onAbort: () => void
}

const bridges = new WeakMap<object, Bridge>()

/** Throws a TypeError, in the words of a call that fails, when it is neither. */
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
      // After an abort there may be the next one.
      if (bridges.get(given) === bridge) bridges.delete(given)
      listen(given, 'off', bridge.onAbort)
    },
  }
}

/** One listener, however many tasks share the emitter. */
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

/** An emitter gives no reason, and its error has no cause. */
export const NO_REASON: unique symbol = Symbol('lido.piscina.noReason')

function reasonOf(given: object): unknown {
  return (given as Partial<AbortSignal>).reason ?? NO_REASON
}

function isEventTarget(given: object): given is EventTarget {
  return 'addEventListener' in given
}
