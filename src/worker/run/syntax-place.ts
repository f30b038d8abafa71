// Finds the line and the column of a syntax error in a handler's file. The error of `import()` has neither.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

const CHECK_LIMIT_MS = 5000

/** Adds the place to the message of a syntax error, if Node can say it. Takes the time of a start of Node. */
export async function withSyntaxPlace(failure: unknown, filename: string): Promise<unknown> {
  if (!(failure instanceof Error) || failure.name !== 'SyntaxError') return failure
  const place = placeIn(failure.stack ?? '') ?? placeIn(await check(filename))
  if (place === null || failure.message.includes(place)) return failure
  const message = `${failure.message} at ${place}`
  Reflect.defineProperty(failure, 'message', { value: message, configurable: true, writable: true })
  return failure
}

/** Node prints the file and the line, the text of the line, and marks the column below it. */
function placeIn(report: string): string | null {
  const [, file, line, marks] = /^(\S.*?):(\d+)\n.*\n( *)\^/m.exec(report) ?? []
  return file === undefined || marks === undefined ? null : `${file}:${line}:${marks.length + 1}`
}

/**
 * What `node --check` prints about the file. Empty where the program may not start processes, and where another program runs this one,
 * such as Bun, Electron or a single executable: it could run the file.
 */
function check(filename: string): Promise<string> {
  const isNode = /[\\/]node(?:\.exe)?$/.test(process.execPath) && process.versions.bun === undefined
  return new Promise(resolve => {
    if (!isNode) return resolve('')
    try {
      const { execFile } = getBuiltinModule('node:child_process')
      const options = { timeout: CHECK_LIMIT_MS, env: { ...process.env, NODE_OPTIONS: '' } }
      execFile(process.execPath, ['--check', filename], options, (_, _stdout, stderr) => resolve(stderr))
    } catch {
      resolve('')
    }
  })
}
