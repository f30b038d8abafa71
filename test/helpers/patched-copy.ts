// A copy of the compiled code with a change in it, to be imported as a program of its own.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const compiled = fileURLToPath(new URL('../../', import.meta.url))
const copies = join(compiled, '..', 'copies')

/** A mistake that somebody might make, as a change to the compiled code. */
export interface Patch {
  /** Under `src/`, as compiled. */
  file: string
  /** What is replaced by what; each must be there once. */
  edits: (readonly [string, string])[]
}

export interface Copy {
  /** Imports a module of the copy, by its path. */
  load<Module>(path: string): Promise<Module>
  /** For a process that imports it. */
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
  if (places !== 1) throw new Error(`a mistake is to be made in ${places} places instead of one: ${from}`)
  return text.replace(from, () => to)
}
