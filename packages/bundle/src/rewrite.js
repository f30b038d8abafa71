// Replaces the handlers of one module by the URLs of their emitted files. Each bundler passes its resolver, and emits the file.
import MagicString from 'magic-string'
import { findHandlers } from './find.js'
import { isForeign, locate, missing } from './locate.js'

/**
 * Resolves with the new text and its source map, or with `null` if the module names no handler that this build can emit.
 * @param {string} code
 * @param {string} id the path of the module
 * @param {object} bundler
 * @param {(specifier: string) => Promise<{ path: string, external?: boolean } | null>} bundler.resolve
 * @param {(path: string) => string} bundler.emit emits a handler, and returns an expression: the URL of its file, as a string
 * @param {(message: string, found: import('./find.js').Found) => void} bundler.fail
 * @param {string} [bundler.root] the folder from which errors name files
 */
export async function rewrite(code, id, { resolve, emit, fail, root }) {
  const importer = id.replace(/[?#].*$/, '')
  const changed = new MagicString(code)
  for (const found of findHandlers(code, importer)) {
    const path = await locate(found, resolve)
    if (path === undefined && !isForeign(importer)) fail(missing(found, importer, root), found)
    if (!path) continue
    const href = emit(path)
    for (const { start, end, text } of found.edits(href)) changed.update(start, end, text)
  }
  if (!changed.hasChanged()) return null
  return {
    code: changed.toString(),
    map: changed.generateMap({ source: id, includeContent: true, hires: 'boundary' }),
  }
}
