// Steps that the entries of threads and processes share. An inline worker runs on its host's thread and needs none of them.
import { globalSymbol } from '../../shared/platform/global-symbol.js'

/** Marks this thread as a worker of a pool. Call it before a module of the user is loaded. */
export function markWorker(): void {
  // The handler's file is not the main program: modules that look for the main module find none.
  process.mainModule = undefined
  Object.defineProperty(globalThis, globalSymbol('worker'), { value: true })
}

/**
 * Tells of an exception that nothing catches, which ends the worker. The runtime would tell the host less, or nothing. An
 * exception that the user's code catches is not reported.
 * @param end ends the worker after all monitors of the exception have run; without it the runtime ends the worker
 */
export function watchCrash(onCrash: (failure: unknown) => void, end?: () => void): void {
  process.on('uncaughtExceptionMonitor', failure => {
    const isCaught =
      process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()
    if (isCaught) return
    onCrash(failure)
    if (end !== undefined) process.once('uncaughtException', end)
  })
}
