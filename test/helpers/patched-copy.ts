// Copies the compiled code and changes one file of the copy. A test imports the copy as a separate program.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const compiled = fileURLToPath(new URL('../../', import.meta.url))
const copies = join(compiled, '..', 'copies')

/** A planted mistake, as a change to the compiled code. */
export interface Patch {
  /** The path of the compiled file, relative to `src/`. */
  file: string
  /** Pairs of old and new text. Each old text must occur exactly once. */
  edits: (readonly [string, string])[]
}

export interface Copy {
  /** Imports a module of the copy, by its path. */
  load<Module>(path: string): Promise<Module>
  /** The URL of a module of the copy, for a process that imports it. */
  urlOf(path: string): string
  remove(): void
}

export function copyWith({ file, edits }: Patch, name: string): Copy {
  const folder = join(copies, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(compiled, folder, {
    recursive: true,
    filter: path => !path.endsWith('.map') && !path.endsWith('.test.js'),
  })
  const changed = join(folder, 'src', file)
  writeFileSync(changed, edits.reduce(edit, readFileSync(changed, 'utf8')))
  const urlOf = (path: string) => pathToFileURL(join(folder, path)).href
  return {
    load: path => import(urlOf(path)),
    urlOf,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function edit(text: string, [from, to]: readonly [string, string]): string {
  const places = text.split(from).length - 1
  if (places !== 1) throw new Error(`the text of a mistake occurs ${places} times, expected once: ${from}`)
  return text.replace(from, () => to)
}
