// Where adapters find files and packages. In a bundle, the entry points for bundlers say where the files are.
import { join, pathToFileURL } from '../../shared/platform/node-modules.js'
import { MissingPackageFileError } from '../backend/worker-code.js'

const inBundle = new Map<string, () => URL>()

/** The packages of the user that adapters import. The entry points of the adapters fill it (`scripts/build.js`). */
export const importedPackages: Record<string, object | undefined> = {}

/** @param locate returns the URL of the file that workers of this adapter load. May throw after a bundler changed it. */
export function embedUrl(adapter: string, locate: () => URL): void {
  inBundle.set(adapter, locate)
}

/**
 * The URL of the file that workers of an adapter load. Throws `MissingPackageFileError`.
 * @param pathOf returns its path where lido is no part of a bundle
 */
export function adapterFile(adapter: string, pathOf: () => string): URL {
  try {
    const locate = inBundle.get(adapter)
    if (locate !== undefined) return locate()
  } catch {
    // In a CommonJS bundle, some bundlers leave no `import.meta.url`.
  }
  try {
    return pathToFileURL(pathOf())
  } catch {
    throw new MissingPackageFileError(null)
  }
}

/** Packages of the user are resolved from this file. A bundle in the format of ES modules has no `__filename`. */
export function packagesFrom(): string {
  return typeof __filename === 'undefined' ? join(process.cwd(), 'lido.js') : __filename
}
