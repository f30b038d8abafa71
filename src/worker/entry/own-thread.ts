// Steps that threads and processes share. An inline worker runs on the host's thread and does not need
// them.
import { globalSymbol } from '../../shared/platform/global-symbol.js'

/** Test runners replace `process.exit` in their handlers. A worker must exit all the same. */
export const exit: (code?: number) => never = process.exit.bind(process)

/** Marks this thread as a worker of a pool. Call it before any module of the user is loaded. */
export function markWorker(): void {
  // The handler's file is not the main program, so modules that look for the main module must not find one.
  process.mainModule = undefined
  Object.defineProperty(globalThis, globalSymbol('worker'), { value: true })
}

/** @param isCaught a listener of the user gets the exception, too. If it throws, the worker ends. */
export type CrashListener = (failure: unknown, isCaught: boolean) => void

/**
 * Reports an uncaught exception, which ends the worker. Node would report less, or nothing.
 * @param end ends the worker after all monitors of the exception have run; without it Node ends the worker
 */
export function watchCrash(onCrash: CrashListener, end?: () => void): void {
  process.on('uncaughtExceptionMonitor', failure => {
    const isCaught =
      process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()
    onCrash(failure, isCaught)
    if (isCaught) return
    if (end !== undefined) process.once('uncaughtException', end)
  })
}
