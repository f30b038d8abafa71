// The versions of the packages that adapters work with. `package.json` accepts every version as a peer, so that an installation never
// fails and no other package changes. Each adapter checks the version at its first use.
import { PoolError } from '../../index.js'

export interface NeededVersion {
  /** Begins the message, as `"'lido/bullmq'"`. */
  readonly user: string
  readonly name: string
  /** Such as `'5.76.11'`. */
  readonly oldest: string
}

/**
 * Throws a `PoolError` with the code `ERR_LIDO_PACKAGE_VERSION` when the installed version is older. A package that cannot be found, as in
 * a bundle, passes.
 */
export function checkVersion(needed: NeededVersion, load: NodeJS.Require): void {
  const found = installedVersion(needed.name, load)
  if (found !== null && isOlder(found, needed.oldest)) throw versionError(needed, `version ${found}`)
}

export function versionError({ user, name, oldest }: NeededVersion, found: string): PoolError {
  return new PoolError(
    'ERR_LIDO_PACKAGE_VERSION',
    `${user} needs ${name} ${oldest} or newer, but ${found} is installed. Install a newer version of ${name}.`,
  )
}

/**
 * `null`: the package cannot be found.
 * @param load finds packages as the file of the adapter does
 */
export function installedVersion(name: string, load: NodeJS.Require): string | null {
  try {
    return load(`${name}/package.json`).version
  } catch {
    return null
  }
}

/** Ignores what follows the numbers, as in `6.0.0-beta.1`. */
export function isOlder(version: string, oldest: string): boolean {
  const given = version.split(/[.-]/).map(Number)
  const limits = oldest.split('.').map(Number)
  const differing = limits.findIndex((limit, index) => given[index] !== limit)
  return differing >= 0 && given[differing]! < limits[differing]!
}
