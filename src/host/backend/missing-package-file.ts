// The error for a program whose bundle contains lido: the bundler does not copy the files that workers load first.
import { PACKAGE_FILE_MISSING } from '../../shared/errors/pool-errors.js'
import { existsSync, fileURLToPath } from '../../shared/platform/node-modules.js'

export class MissingPackageFileError extends Error {
  readonly code = PACKAGE_FILE_MISSING

  /** @param path `null` when the path is unknown */
  constructor(path: string | null) {
    const what = path === null ? "lido's own files cannot be found" : `lido's own file ${path} is missing`
    super(
      `${what}: the bundler of this program did not copy lido's files. Leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs.`,
    )
    this.name = 'MissingPackageFileError'
  }
}

/** Throws `MissingPackageFileError` when `locate` throws. It does so after a bundler converted lido to CommonJS. */
export function packageFile(locate: () => URL): URL {
  try {
    return locate()
  } catch {
    throw new MissingPackageFileError(null)
  }
}

/** Why a worker ended before it was ready: `MissingPackageFileError` if its first file is missing, else `failure`. */
export function startFailureCause(entry: () => URL, failure?: unknown): unknown {
  if (failure instanceof MissingPackageFileError) return failure
  const path = fileURLToPath(entry())
  return existsSync(path) ? failure : new MissingPackageFileError(path)
}
