// Turns the option `filename` into an absolute path. Refuses builtin modules, URLs other than `file:` URLs, and package
// names in a call. Otherwise a file name that comes from a client could load `child_process`.

import { isMadeByNext, nextAdvice } from '../../shared/errors/load-advice.js'
import { messageOf } from '../../shared/errors/serialize-error.js'
import { loadingFiles } from '../../shared/messages/handler-ref.js'
import { describe } from '../../shared/options/option-table.js'
import {
  existsSync,
  fileURLToPath,
  getBuiltinModule,
  isAbsolute,
  join,
  readFileSync,
} from '../../shared/platform/node-modules.js'
import { shorten } from '../../shared/platform/shorten.js'
import { fileMeantBy } from '../../shared/platform/source-file.js'

/** What is wrong with the value. The caller puts `text` into its own error, after the name of the option. */
export class HandlerFileProblem {
  readonly text: string
  readonly cause: unknown

  constructor(text: string, cause?: unknown) {
    this.text = text
    this.cause = cause
  }
}

/** For a call: accepts an absolute path, a `file:` string or a `URL`. Refuses the file that this worker loads now. */
export function resolveHandlerFile(given: unknown): string | HandlerFileProblem {
  const file = locate(given)
  return typeof file === 'string' && isLoadingNow(file) ? new HandlerFileProblem(loadingText(file)) : file
}

function locate(given: unknown): string | HandlerFileProblem {
  if (isUrl(given)) return fromUrl(given)
  if (typeof given !== 'string' || given === '') {
    return new HandlerFileProblem(
      `must be an absolute path, a 'file:' string or a URL, got ${describe(given)}`,
    )
  }
  if (isAbsolute(given)) return given
  if (isBuiltin(given))
    return new HandlerFileProblem(
      `must be a file, got '${given}', a builtin module of Node.js. Export the handler from a file of your own`,
    )
  if (/^[a-z][a-z\d+.-]+:/i.test(given)) return fromUrl(given)
  // The message shows the path as code, where a backslash would start an escape sequence.
  const path = given.replaceAll('\\', '/')
  return new HandlerFileProblem(
    `must be an absolute path, a 'file:' string or a URL, got '${given}'. Write new URL('${path}', import.meta.url), or require.resolve('${path}')`,
  )
}

/**
 * For the constructor: also accepts the name of a package. Resolves it from the file that calls the constructor, then from the working
 * directory.
 * @param callerFile returns the file of the caller. `null`: not known
 */
export function resolvePoolFile(
  given: unknown,
  callerFile: () => string | null = () => null,
): string | HandlerFileProblem {
  if (typeof given !== 'string' || !isPackageName(given) || isBuiltin(given)) return locate(given)
  const caller = callerFile()
  const fromCaller = caller === null ? null : packageFileFrom(given, caller)
  if (typeof fromCaller === 'string') return fromCaller
  let folder = 'the working directory, which no longer exists'
  try {
    folder = process.cwd()
    return requireFrom(join(folder, 'noop.js')).resolve(given)
  } catch (cause) {
    const failure = isNotFound(cause) && fromCaller !== null ? fromCaller.failure : cause
    if ((failure as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      return new HandlerFileProblem(
        `is '${given}', which its package does not export for require(). Use import.meta.resolve('${given}')`,
        failure,
      )
    }
    return new HandlerFileProblem(
      `is '${given}', a package that cannot be found from ${caller ?? folder}. For a file, write new URL('./handler.js', import.meta.url) or require.resolve('./handler.js')`,
      failure,
    )
  }
}

/** The file of a package as the caller would load it: by `require()`, or by `import` when it is exported only for that. */
function packageFileFrom(name: string, caller: string): string | { failure: unknown } {
  const require = requireFrom(caller)
  try {
    return require.resolve(name)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') return { failure }
    return importedFile(name, require.resolve.paths(name) ?? []) ?? { failure }
  }
}

/** Reads the `exports` of the package for the condition `import`. */
function importedFile(name: string, folders: readonly string[]): string | null {
  const [, packageName, path = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name)!
  for (const folder of folders) {
    const root = join(folder, packageName!)
    const manifest = join(root, 'package.json')
    if (!existsSync(manifest)) continue
    const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: unknown }
    const hasPaths = Object.keys(Object(exports)).some(key => key.startsWith('.'))
    const entry = hasPaths ? (exports as Record<string, unknown>)[`.${path}`] : exports
    const target = targetOf(entry)
    return target === null ? null : join(root, target)
  }
  return null
}

function targetOf(entry: unknown): string | null {
  if (typeof entry === 'string') return entry
  for (const [condition, inner] of Object.entries(Object(entry))) {
    if (!['import', 'node', 'default'].includes(condition)) continue
    const target = targetOf(inner)
    if (target !== null) return target
  }
  return null
}

function requireFrom(file: string): NodeJS.Require {
  return getBuiltinModule('node:module').createRequire(file)
}

function isNotFound(failure: unknown): boolean {
  return (failure as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
}

/** True in a worker that loads this file now. If the file created a pool of itself, each worker would create another one, without end. */
export function isLoadingNow(file: string): boolean {
  return loadingFiles().has(fileMeantBy(file) ?? file)
}

export function loadingText(file: string): string {
  return `is ${file}, which this worker is loading now. Each worker would create another pool, without end. Create the pool only if isWorkerThread of 'lido/worker' is false, or move the handler into its own file. If a bundler let the handler's file import the program's, add the plug-in of the package lido-bundle to the build`
}

/** Also true for a URL of Node in the environment `jsdom` of Jest, which has another class `URL`. */
function isUrl(given: unknown): given is URL {
  return Object.prototype.toString.call(given) === '[object URL]'
}

function fromUrl(given: string | URL): string | HandlerFileProblem {
  try {
    return fileURLToPath(given)
  } catch (failure) {
    if (isMadeByNext(String(given))) {
      return new HandlerFileProblem(
        `is '${String(given)}', an address that the bundler of Next.js made. ${nextAdvice.slice(0, -1)}`,
        failure,
      )
    }
    const advice = String(given).startsWith('data:')
      ? 'Write the code to a file, and name that file'
      : "Write new URL('./handler.js', import.meta.url)"
    return new HandlerFileProblem(
      `must be the 'file:' URL of a saved file, got '${shorten(String(given))}' (${messageOf(failure)}). ${advice}`,
      failure,
    )
  }
}

function isPackageName(given: string): boolean {
  return /^(@[\w.~-]+\/)?[\w~-][\w.~-]*(\/[\w./~-]+)?$/.test(given)
}

function isBuiltin(given: string): boolean {
  return getBuiltinModule('node:module').isBuiltin(given)
}
