// A copy of the compiled code with a change in it, to be imported as a program of its own.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as CheckModule from './check.js'
import type { Mistake } from './mistakes.js'
import type * as RingModule from './ring-case.js'

const compiled = fileURLToPath(new URL('../../', import.meta.url))
const copies = join(compiled, '..', 'model')

export interface Copy {
  check: typeof CheckModule.check
  checkRing: typeof RingModule.checkRing
  remove(): void
}

export async function copyWith({ file, edits }: Mistake, name: string): Promise<Copy> {
  const folder = join(copies, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(compiled, folder, {
    recursive: true,
    filter: path => !path.endsWith('.map') && !path.endsWith('.test.js'),
  })
  const changed = join(folder, 'src', file)
  writeFileSync(changed, edits.reduce(edit, readFileSync(changed, 'utf8')))
  const load = (path: string) => import(pathToFileURL(join(folder, 'test', 'model', path)).href)
  const { check } = (await load('check.js')) as typeof CheckModule
  const { checkRing } = (await load('ring-case.js')) as typeof RingModule
  return { check, checkRing, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function edit(text: string, [from, to]: readonly [string, string]): string {
  const places = text.split(from).length - 1
  if (places !== 1) throw new Error(`a mistake is to be made in ${places} places instead of one: ${from}`)
  return text.replace(from, () => to)
}
