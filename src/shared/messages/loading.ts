// The handlers' files that this thread is loading right now. On `globalThis`, so that every copy of this package sees the
// same: a file that makes a pool of itself while it is loaded would go on for ever. So would two that make pools of each other:
// what is being loaded where a worker is started is said to it.
import { globalSymbol } from '../platform/global-symbol.js'

const loadingBrand = globalSymbol('loading')

export function loadingFiles(): Set<string> {
  const home = globalThis as unknown as Record<symbol, Set<string> | undefined>
  home[loadingBrand] ??= new Set()
  return home[loadingBrand]
}

/** For a worker that is started now; `null`: there are none. */
export function filesAbove(): readonly string[] | null {
  const files = loadingFiles()
  return files.size === 0 ? null : [...files]
}
