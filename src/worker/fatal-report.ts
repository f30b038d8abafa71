// Has the runtime report what it aborts of to the host, which has no other way to tell a reached heap limit from
// `process.abort()`.

/** Not every version of Node's types has them all. */
type Report = NodeJS.ProcessReport & { excludeNetwork?: boolean; excludeEnv?: boolean }

/** Only under `--permission`, and not in every version of Node's types. */
type Permitted = { permission?: { has(scope: string, reference: string): boolean } }

/** @param fd an open file that is the host's to read. Nothing is done where reports go elsewhere by the user's own wish. */
export function reportFatalErrors(fd: number): void {
  const { report } = process as { report?: Report }
  if (report === undefined) return
  // `report.reportOnSignal` is true already where only the signal was named, as Node's own test runner does for those it starts.
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  const isUsers =
    report.reportOnFatalError || report.reportOnUncaughtException || flags.includes('--report-on-signal')
  if (isUsers || report.directory !== '' || report.filename !== '') return
  // Whole, so that a report that is given a name by the user still goes where he says.
  const filename = `/proc/self/fd/${fd}`
  // To write where that is not permitted would be what it dies of.
  if ((process as Permitted).permission?.has('fs.write', filename) === false) return
  report.filename = filename
  report.compact = true
  // Names of addresses would be asked for over the network.
  report.excludeNetwork = true
  report.excludeEnv = true
  report.reportOnFatalError = true
}
