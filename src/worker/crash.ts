// What nobody catches ends a worker. The host hears of it as it is, where the runtime tells less or nothing.

/** Where the user's own code catches it, the worker lives on, and nothing is said. */
export function watchCrash(callback: (failure: unknown) => void): void {
  process.on('uncaughtExceptionMonitor', failure => {
    const isCaught =
      process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()
    if (!isCaught) callback(failure)
  })
}
