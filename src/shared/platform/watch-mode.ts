// Tells `node --watch` which files workers load, so that a change of one restarts the program. The module loaders of Node report each
// file by `process.send()`, which a thread does not have. Those of Node.js 24 and newer also report to the parent port.

interface ReportPort {
  postMessage(value: unknown): void
}

function isReport(value: unknown): boolean {
  return Object.keys(Object(value)).some(key => key === 'watch:import' || key === 'watch:require')
}

/** Call it on a thread before it loads files of the user. Its `process.send()` then takes reports, and nothing else. */
export function reportLoadedFiles(port: ReportPort): void {
  if (process.env.WATCH_REPORT_DEPENDENCIES === undefined || process.send !== undefined) return
  const value = (message: unknown): boolean => {
    if (isReport(message)) port.postMessage(message)
    return true
  }
  Object.defineProperty(process, 'send', { value, configurable: true, writable: true })
}

/** Passes a report on. Returns false for a message of the user. */
export function passOnReport(message: unknown): boolean {
  if (process.env.WATCH_REPORT_DEPENDENCIES === undefined || !isReport(message)) return false
  process.send?.(message)
  return true
}
