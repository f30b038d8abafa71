// Finds the source file of a handler with the resolver of the bundler, and builds the error for a file that does not exist.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, relative } from 'node:path'

const scripts = ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx']
const typed = { '.js': ['.ts', '.tsx'], '.mjs': ['.mts'], '.cjs': ['.cts'], '.jsx': ['.tsx'] }

/** Without an extension, or with one of JavaScript or TypeScript. Others, such as `.wasm` and `?url`, are not handlers. */
function isScript(specifier) {
  const extension = extname(specifier)
  return !/[?#]/.test(specifier) && (scripts.includes(extension) || !/^\.[a-z]{1,5}$/.test(extension))
}

/** The specifiers to try, the most likely first: the file as written, its TypeScript source, then other extensions. */
function candidates({ specifier, form }) {
  const names = [specifier]
  const extension = extname(specifier)
  const stem = scripts.includes(extension) ? specifier.slice(0, -extension.length) : specifier
  // TypeScript finds `work.ts` under the name `work.js`.
  const others = [...(typed[extension] ?? []), ...scripts.filter(each => each !== extension)]
  for (const other of new Set(others)) names.push(stem + other)
  if (form !== 'url' || /^[./]/.test(specifier)) return names
  // In a URL, `work.js` is `./work.js`. It may also be an alias.
  return [...names.map(name => `./${name}`), ...names]
}

/**
 * Resolves with the path of the handler, `null` if the bundler leaves it out of the bundle or if it is no script, and `undefined` if
 * there is no such file.
 * @param {import('./find.js').Found} found
 * @param {(specifier: string) => Promise<{ path: string, external?: boolean } | null>} resolve
 */
export async function locate(found, resolve) {
  if (/^(data|https?|node|file):/.test(found.specifier) || !isScript(found.specifier)) return null
  if (found.form !== 'thunk' && isAbsolute(found.specifier)) return null
  for (const candidate of candidates(found)) {
    const resolved = await resolve(candidate)
    if (!resolved) continue
    const isPackage = !/^[./]/.test(candidate)
    if (resolved.external && (isPackage || existsSync(resolved.path))) return null
    if (!resolved.external) return isScript(resolved.path) ? resolved.path : null
  }
  // A path may name a file that another step makes.
  return found.form === 'path' ? null : undefined
}

export function missing(found, importer, root = process.cwd()) {
  const place = `${relative(root, importer)}:${found.line}`
  const folder = found.specifier.startsWith('.')
    ? `There is no file ${join(dirname(importer), found.specifier)}.`
    : 'The bundler finds no file of this name.'
  return `${place} names the handler '${found.specifier}'. ${folder} Write the path of the handler's source file, relative to ${basename(importer)}.`
}

/** True for modules that the author of the program did not write. They may name files that only exist in other packages. */
export function isForeign(importer) {
  return /[\\/]node_modules[\\/]/.test(importer)
}

/**
 * The name of the emitted file, without its extension. The same in each build of the same sources, and different for each handler, because
 * some bundlers take two files of one name for the same file.
 */
export function nameOf(path, root = process.cwd()) {
  const stem = basename(path)
    .replace(/\.[^.]*$/, '')
    .replace(/[^\w.-]/g, '_')
  const hash = createHash('sha256').update(relative(root, path).replaceAll('\\', '/'))
  return `${stem}-${hash.digest('hex').slice(0, 6)}`
}
