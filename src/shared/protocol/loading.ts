// The handlers' files that this thread is loading right now. On `globalThis`, so that every copy of this package sees the
// same: a file that makes a pool of itself while it is loaded would go on for ever.
import { brandOf } from '../base/brand.js'

const loadingBrand = brandOf('loading')

export function loadingFiles(): Set<string> {
  const home = globalThis as unknown as Record<symbol, Set<string> | undefined>
  home[loadingBrand] ??= new Set()
  return home[loadingBrand]
}
