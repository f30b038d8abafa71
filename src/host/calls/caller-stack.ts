// Adds the caller's frames to the stacks of errors. The stack of an error from a public function starts at the line
// that called the function. With the option `callerStack`, the stack of a task's error also shows where the task was
// submitted. Capturing these frames costs each call some microseconds.
import { type PublicFunction, withCallerFrames } from '../../shared/errors/pool-errors.js'
import { fileURLToPath, isAbsolute } from '../../shared/platform/node-modules.js'

/** Errors that already have a caller's frames. One error may reject several calls. */
const extended = new WeakSet<object>()

/**
 * Runs `part` of the public function `entry`. The stack of a thrown `PoolError` starts at the line that called `entry`.
 */
export function forCaller<T>(entry: PublicFunction, part: () => T): T {
  try {
    return part()
  } catch (problem) {
    throw withCallerFrames(problem, entry)
  }
}

/** The file that called `entry`, a public function that is now on the stack. `null`: not known. */
export function callerFile(entry: PublicFunction): string | null {
  return fileOf(callerSites(entry)[0])
}

/** The file, line and column that called `entry`, outside of the folder of lido. `null`: not known. */
export function callerPlace(entry: PublicFunction): string | null {
  const ownFile = fileOf(callerSites(null)[0]) ?? ''
  const ownFolder = ownFile.replace(/[^\\/]*$/, '')
  const isOwn = (site: NodeJS.CallSite) => ownFolder !== '' && fileOf(site)?.startsWith(ownFolder) === true
  const sites = callerSites(entry)
  // In a bundle with the program, all frames are in one folder.
  const site = sites.find(site => !isOwn(site)) ?? sites[0]
  const file = fileOf(site)
  return file === null ? null : `${file}:${site!.getLineNumber()}:${site!.getColumnNumber()}`
}

function fileOf(site: NodeJS.CallSite | undefined): string | null {
  // Vite's development server evaluates modules as texts.
  const file = site?.getFileName() ?? site?.getScriptNameOrSourceURL?.()
  if (typeof file !== 'string') return null
  if (file.startsWith('file:')) return fileURLToPath(file)
  return isAbsolute(file) ? file : null
}

/** The frames below `entry`, or all frames. Empty: not known. */
function callerSites(entry: PublicFunction | null): NodeJS.CallSite[] {
  const { prepareStackTrace } = Error
  const caller: { stack?: unknown } = {}
  try {
    // `Reflect.set` also works where `Error` is frozen.
    Reflect.set(Error, 'prepareStackTrace', (_: Error, sites: NodeJS.CallSite[]) => sites)
    if (entry === null) Error.captureStackTrace(caller)
    else Error.captureStackTrace(caller, entry)
    const sites = caller.stack
    return Array.isArray(sites) ? sites : []
  } catch {
    return []
  } finally {
    Reflect.set(Error, 'prepareStackTrace', prepareStackTrace)
  }
}

/** Returns a promise that settles like the given one. A rejection's error gets the frames of the caller of `entry`. */
export function withCallerStack<T>(promise: Promise<T>, entry: PublicFunction): Promise<T> {
  const caller: { stack?: unknown } = {}
  Error.captureStackTrace(caller, entry)
  return promise.catch((reason: unknown) => {
    try {
      append(reason, caller.stack)
    } catch {
      // Reading a stack calls the program's `Error.prepareStackTrace`, which may throw. The caller needs the task's
      // error.
    }
    throw reason
  })
}

function append(reason: unknown, callerStack: unknown): void {
  if (!(reason instanceof Error) || extended.has(reason)) return
  const frames = typeof callerStack === 'string' ? callerStack.slice(callerStack.indexOf('\n') + 1) : ''
  if (frames === '' || typeof reason.stack !== 'string') return
  extended.add(reason)
  const stack = `${reason.stack}\n    --- submitted by ---\n${frames}`
  // The error may be frozen.
  Reflect.defineProperty(reason, 'stack', { value: stack, configurable: true, writable: true })
}
