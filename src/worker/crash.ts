// What nobody catches ends a worker. The host hears of it as it is, where the runtime tells less or nothing.

const MONITOR = 'uncaughtExceptionMonitor'

/**
 * Where the user's own code catches it, the worker lives on, and nothing is said.
 * @param end called when all that listen have heard of it; `null`: the runtime ends the worker
 */
export function watchCrash(callback: (failure: unknown) => void, end: (() => void) | null = null): void {
  const onCrash = (failure: Error, origin: NodeJS.UncaughtExceptionOrigin) => {
    const isCaught =
      process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()
    if (isCaught) return
    callback(failure)
    if (end === null) return
    const listeners = process.rawListeners(MONITOR)
    for (const listener of listeners.slice(listeners.indexOf(onCrash) + 1)) tell(listener, failure, origin)
    end()
  }
  process.on(MONITOR, onCrash)
}

function tell(listener: unknown, ...told: unknown[]): void {
  try {
    Reflect.apply(listener as () => void, process, told)
  } catch {
    // It ends the worker, which ends already.
  }
}
