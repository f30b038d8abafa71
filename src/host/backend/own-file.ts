// lido's own files beside the program's: a bundler that takes lido into its bundle leaves them behind.

import { OwnFileError } from '../../shared/errors/own-file-error.js'
import { existsSync, fileURLToPath } from '../../shared/platform/node-modules.js'

/** Throws where a bundler has made CommonJS of an ES module: that does not know where it is. */
export function ownFile(locate: () => URL): URL {
  try {
    return locate()
  } catch {
    throw new OwnFileError('')
  }
}

/** What the worker's end came of: the file its life begins in is not there, or else `failure`. */
export function causeOfEnd(entry: () => URL, failure?: unknown): unknown {
  if (failure instanceof OwnFileError) return failure
  const path = fileURLToPath(entry())
  return existsSync(path) ? failure : new OwnFileError(path)
}
