// The versions of the packages that adapters work with. `package.json` accepts every version as a peer, so that an installation never
// fails and no other package changes. Each adapter checks the version at its first use.
import { createRequire } from 'node:module'
import { PoolError } from '../../index.js'

export interface NeededVersion {
  /** Begins the message, as `"'lido/bullmq'"`. */
  readonly user: string
  readonly name: string
  readonly oldest: readonly [major: number, minor: number]
}

/**
 * Throws a `PoolError` with the code `ERR_LIDO_PACKAGE_VERSION` when the installed version is older. A package that cannot be found, as in
 * a bundle, passes.
 * @param from the URL of the file that imports the package
 */
export function checkVersion(needed: NeededVersion, from: string): void {
  const found = installedVersion(needed.name, from)
  if (found !== null && isOlder(found, needed.oldest)) throw versionError(needed, `version ${found}`)
}

export function versionError({ user, name, oldest }: NeededVersion, found: string): PoolError {
  const range = `${oldest.join('.')} or newer`
  return new PoolError(
    'ERR_LIDO_PACKAGE_VERSION',
    `${user} needs ${name} ${range}, but ${found} is installed. Run: npm install ${name}@latest`,
  )
}

/** `null`: the package cannot be found. */
export function installedVersion(name: string, from: string): string | null {
  try {
    return createRequire(from)(`${name}/package.json`).version
  } catch {
    return null
  }
}

export function isOlder(version: string, [oldestMajor, oldestMinor]: NeededVersion['oldest']): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}
