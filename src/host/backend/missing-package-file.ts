// A bundler that puts lido into the program's bundle leaves out the files that workers load first.
import { PACKAGE_FILE_MISSING } from '../../shared/errors/pool-errors.js'
import { existsSync, fileURLToPath } from '../../shared/platform/node-modules.js'

export class MissingPackageFileError extends Error {
  readonly code = PACKAGE_FILE_MISSING

  /** @param path `null` when the path is unknown */
  constructor(path: string | null) {
    const what =
      path === null
        ? "lido's own files cannot be found"
        : `${path} is missing, which is one of lido's own files`
    super(
      `${what}: the program was bundled and they were left behind. Leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs.`,
    )
    this.name = 'MissingPackageFileError'
  }
}

/** `locate` throws in a program that a bundler has converted from an ES module to CommonJS. */
export function packageFile(locate: () => URL): URL {
  try {
    return locate()
  } catch {
    throw new MissingPackageFileError(null)
  }
}

/** Why a worker ended before it could start: its first file is missing, or otherwise `failure`. */
export function startFailureCause(entry: () => URL, failure?: unknown): unknown {
  if (failure instanceof MissingPackageFileError) return failure
  const path = fileURLToPath(entry())
  return existsSync(path) ? failure : new MissingPackageFileError(path)
}
