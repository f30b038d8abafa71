// Turns the option `filename` into an absolute path. Refuses builtin modules, URLs other than `file:` URLs, and package
// names in a call. Otherwise a file name that comes from a client could load `child_process`.

import { isMadeByNext, nextAdvice } from '../../shared/errors/load-advice.js'
import { messageOf } from '../../shared/errors/serialize-error.js'
import { loadingFiles } from '../../shared/messages/handler-ref.js'
import { describe } from '../../shared/options/option-table.js'
import { fileURLToPath, getBuiltinModule, isAbsolute, join } from '../../shared/platform/node-modules.js'

/** What is wrong with the value. The caller puts `text` into its own error, after the name of the option. */
export class HandlerFileProblem {
  readonly text: string
  readonly cause: unknown

  constructor(text: string, cause?: unknown) {
    this.text = text
    this.cause = cause
  }
}

/** For a call: accepts an absolute path, a `file:` string or a `URL`. */
export function resolveHandlerFile(given: unknown): string | HandlerFileProblem {
  if (isUrl(given)) return fromUrl(given)
  if (typeof given !== 'string' || given === '') {
    return new HandlerFileProblem(
      `must be an absolute path, a 'file:' string or a URL, got ${describe(given)}`,
    )
  }
  if (isAbsolute(given)) return notLoadingNow(given)
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

/** For the constructor: also accepts the name of a package, and resolves it from the working directory. */
export function resolvePoolFile(given: unknown): string | HandlerFileProblem {
  if (typeof given !== 'string' || !isPackageName(given) || isBuiltin(given)) return resolveHandlerFile(given)
  let folder = 'the working directory, which no longer exists'
  try {
    folder = process.cwd()
    const { createRequire } = getBuiltinModule('node:module')
    return notLoadingNow(createRequire(join(folder, 'noop.js')).resolve(given))
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      return new HandlerFileProblem(
        `is '${given}', which its package does not export for require(). Use import.meta.resolve('${given}')`,
        failure,
      )
    }
    return new HandlerFileProblem(
      `is '${given}', a package that cannot be found from ${folder}. For a file, write new URL('./handler.js', import.meta.url) or require.resolve('./handler.js')`,
      failure,
    )
  }
}

/** Refuses the file that this worker loads now. Each worker would create another pool of the same file, without end. */
function notLoadingNow(file: string): string | HandlerFileProblem {
  if (!loadingFiles().has(file)) return file
  return new HandlerFileProblem(
    `is ${file}, which this worker is loading now. Each worker would create another pool, without end. Create the pool only if isWorkerThread of 'lido/worker' is false, or move the handler into its own file`,
  )
}

/** Also true for a URL of Node in the environment `jsdom` of Jest, which has another class `URL`. */
function isUrl(given: unknown): given is URL {
  return Object.prototype.toString.call(given) === '[object URL]'
}

function fromUrl(given: string | URL): string | HandlerFileProblem {
  try {
    return notLoadingNow(fileURLToPath(given))
  } catch (failure) {
    if (isMadeByNext(String(given))) {
      return new HandlerFileProblem(
        `is '${String(given)}', an address that the bundler of Next.js made. ${nextAdvice.slice(0, -1)}`,
        failure,
      )
    }
    return new HandlerFileProblem(
      `must be the 'file:' URL of a saved file, got '${String(given)}' (${messageOf(failure)}). Write new URL('./handler.js', import.meta.url)`,
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
