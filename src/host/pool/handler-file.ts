// What a user may give as a handler's file, as an absolute path. A builtin module, a URL of another kind or a bare name
// in a call is refused: a file name that came from outside must not become `child_process`.

import { messageOf } from '../../shared/errors/serialize-error.js'
import { loadingFiles } from '../../shared/messages/handler-ref.js'
import { describe } from '../../shared/options/option-table.js'
import { fileURLToPath, getBuiltinModule, isAbsolute, join } from '../../shared/platform/node-modules.js'

/** Says in words what is wrong with the value, for the caller's own kind of error. */
export class HandlerFileProblem {
  readonly text: string
  readonly cause: unknown

  constructor(text: string, cause?: unknown) {
    this.text = text
    this.cause = cause
  }
}

/** For a call: an absolute path, a `file:` string or a `URL`. */
export function resolveHandlerFile(given: unknown): string | HandlerFileProblem {
  if (given instanceof URL) return fromUrl(given)
  if (typeof given !== 'string' || given === '') {
    return new HandlerFileProblem(
      `must be an absolute path, a 'file:' string or a URL, got ${describe(given)}`,
    )
  }
  if (isAbsolute(given)) return notLoadingNow(given)
  if (isBuiltin(given))
    return new HandlerFileProblem(`must be a file; '${given}' is a builtin module of Node`)
  if (/^[a-z][a-z\d+.-]+:/i.test(given)) return fromUrl(given)
  // In code a backslash would be an escape.
  const path = given.replaceAll('\\', '/')
  return new HandlerFileProblem(
    `must be an absolute path, a 'file:' string or a URL, got '${given}'; write new URL('${path}', import.meta.url), or require.resolve('${path}')`,
  )
}

/** For the constructor: also a package's name, resolved from the working directory. */
export function resolvePoolFile(given: unknown): string | HandlerFileProblem {
  if (typeof given !== 'string' || !isPackageName(given) || isBuiltin(given)) return resolveHandlerFile(given)
  let folder = 'a working directory that is no more'
  try {
    folder = process.cwd()
    const { createRequire } = getBuiltinModule('node:module')
    return notLoadingNow(createRequire(join(folder, 'noop.js')).resolve(given))
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      return new HandlerFileProblem(
        `names '${given}', which its package does not export for require(); give import.meta.resolve('${given}')`,
        failure,
      )
    }
    return new HandlerFileProblem(
      `names the package '${given}', which cannot be found from ${folder}; give a file as new URL('./handler.js', import.meta.url) or require.resolve('./handler.js')`,
      failure,
    )
  }
}

/** A file that creates a pool of itself while a worker loads it would start workers without end. */
function notLoadingNow(file: string): string | HandlerFileProblem {
  if (!loadingFiles().has(file)) return file
  return new HandlerFileProblem(
    `names ${file}, which this worker is just loading: each worker would start a pool of its own, without end; make the pool only where isWorkerThread of 'lido/worker' is false, or give the handler a file of its own`,
  )
}

function fromUrl(given: string | URL): string | HandlerFileProblem {
  try {
    return notLoadingNow(fileURLToPath(given))
  } catch (failure) {
    return new HandlerFileProblem(
      `must be the 'file:' URL of a saved file, got '${String(given)}' (${messageOf(failure)}); give a file as new URL('./handler.js', import.meta.url)`,
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
