// The error for a program whose bundle contains lido: the bundler does not copy the files that workers load first.
import { isMadeByNext, nextAdvice } from '../../shared/errors/load-advice.js'
import { PACKAGE_FILE_MISSING } from '../../shared/errors/pool-errors.js'
import { existsSync, fileURLToPath, join } from '../../shared/platform/node-modules.js'

export class MissingPackageFileError extends Error {
  readonly code = PACKAGE_FILE_MISSING

  /** @param path a path, or an address that a bundler made; `null` when it is unknown */
  constructor(path: string | null) {
    const what = path === null ? "lido's own files cannot be found" : `lido's own file ${path} is missing`
    super(`${what}: the bundler of this program did not copy lido's files. ${adviceFor(path)}`)
    this.name = 'MissingPackageFileError'
  }
}

function adviceFor(path: string | null): string {
  if (path !== null && isMadeByNext(path)) return nextAdvice
  const leave =
    "leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs."
  const folder = path === null ? null : /^(.*[\\/]worker)[\\/]entry[\\/]/.exec(path)?.[1]
  if (folder === null || folder === undefined) return leave[0]!.toUpperCase() + leave.slice(1)
  return `Copy the folder ${join('node_modules', 'lido', 'dist', 'esm', 'worker')} to ${folder}. Or ${leave}`
}

/** Throws `MissingPackageFileError` when `locate` finds no file. After a bundler changed lido, it may throw. */
export function packageFile(locate: () => URL): URL {
  let url: URL
  try {
    url = locate()
  } catch {
    throw new MissingPackageFileError(null)
  }
  // For webpack, Next.js sets an address of its web server.
  if (url.protocol !== 'file:') throw new MissingPackageFileError(String(url))
  return url
}

/** Why a worker ended before it was ready: `MissingPackageFileError` if its first file is missing, else `failure`. */
export function startFailureCause(entry: () => URL, failure?: unknown): unknown {
  if (failure instanceof MissingPackageFileError) return failure
  const path = fileURLToPath(entry())
  return existsSync(path) ? failure : new MissingPackageFileError(path)
}
