// Finds the file that a program names by another extension: the TypeScript source of a JavaScript file, or the `.mjs` file that a bundler
// made of a `.js` file.
import { existsSync } from './node-modules.js'

const OTHER_EXTENSIONS: Record<string, readonly string[]> = {
  js: ['ts', 'mjs', 'cjs', 'mts', 'cts'],
  mjs: ['mts'],
  cjs: ['cts'],
}

/** `null` when the named file exists, or when there is no file with another extension. */
export function fileMeantBy(filename: string): string | null {
  const [, path, extension] = /^(.*\.)([cm]?js)$/s.exec(filename) ?? []
  if (path === undefined || existsSync(filename)) return null
  const found = OTHER_EXTENSIONS[extension!]!.find(other => existsSync(path + other))
  return found === undefined ? null : path + found
}
