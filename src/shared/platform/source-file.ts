// Finds the TypeScript file that a program names by the JavaScript file that a compiler would make of it.
import { existsSync } from './node-modules.js'

/** `null` when the JavaScript file exists, or when no TypeScript file of that name exists. */
export function sourceOf(filename: string): string | null {
  if (!/\.[cm]?js$/.test(filename) || existsSync(filename)) return null
  const source = filename.replace(/js$/, 'ts')
  return existsSync(source) ? source : null
}
