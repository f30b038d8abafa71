// A reference to a handler, as messages carry it, and the files that this thread is loading.
import { globalSymbol } from '../platform/global-symbol.js'

/** A handler: an exported function of a file. */
export interface HandlerRef {
  /** An absolute path. */
  filename: string
  name: string
}

const loadingKey = globalSymbol('loading')

/** The handler files that this thread is loading. Stored on `globalThis`, so that all copies of this package see the same set. */
export function loadingFiles(): Set<string> {
  const globals = globalThis as unknown as Record<symbol, Set<string> | undefined>
  globals[loadingKey] ??= new Set()
  return globals[loadingKey]
}
