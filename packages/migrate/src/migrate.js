// Changes the text of one file.
import { changeClassPools, piscina, tinypool } from './class-pools.js'
import { checkNames, findImports, writeImports } from './imports.js'
import { Source } from './source.js'
import { changeWorkerpool } from './workerpool.js'

const libraries = {
  piscina: (source, found) => changeClassPools(source, found, piscina),
  tinypool: (source, found) => changeClassPools(source, found, tinypool),
  workerpool: changeWorkerpool,
}

/**
 * Changes the texts of a program, `[{ path, text }]`. Returns `{ path, text, library, code, notes, refusals }` for each file that uses
 * one of the libraries. `code` is `null` if the file stays as it is. Pools and their workers must use the same library. So where
 * workers import the library, all of its files change, or none.
 */
export function migrateAll(files) {
  const results = files.flatMap(({ path, text }) => {
    const result = migrate(text, path)
    return result === null ? [] : [{ path, text, ...result }]
  })
  const staying = new Map()
  for (const { path, library, code } of results) {
    if (code === null) for (const name of library.split(', ')) staying.set(name, path)
  }
  return results.map(result => {
    const other = staying.get(result.library)
    const waits = result.code !== null && other !== undefined && haveWorkers(results, result.library)
    if (!waits) return result
    const text = `The file waits for ${other}, because a pool and its workers must use the same library.`
    return { ...result, code: null, notes: [], refusals: [{ line: 1, text }] }
  })
}

/** Workers of workerpool always import it. Workers of the others may import `move()` or `workerData`. */
function haveWorkers(results, library) {
  return library === 'workerpool' || results.some(other => other.library === library && other.isWorker)
}

/**
 * Returns `null` if the file uses none of the libraries. Otherwise `{ library, isWorker, code, notes, refusals }`. With refusals the
 * file stays as it is, and `code` is `null`.
 */
export function migrate(text, path) {
  const named = Object.keys(libraries).filter(name => new RegExp(`['"]${name}['"]`).test(text))
  if (named.length === 0) return null
  let source
  try {
    source = new Source(text, path)
  } catch (error) {
    const refusals = [{ line: error.loc?.line ?? 1, text: `${error.message}.` }]
    return { library: named.join(', '), isWorker: true, code: null, notes: [], refusals }
  }
  const used = named
    .map(library => ({ library, found: findImports(source, library) }))
    .filter(({ found }) => found.isUsed)
  if (used.length === 0) return null
  if (used.length === 1) change(source, used[0])
  else source.refuse(source.program, 'The file uses several of these libraries.')
  const library = used.map(({ library }) => library).join(', ')
  const byLine = list => list.sort((one, other) => one.line - other.line)
  const [notes, refusals] = [byLine(source.notes), byLine(source.refusals)]
  const isWorker = source.usesMarks && !source.hasPool
  if (refusals.length > 0) return { library, isWorker, code: null, notes: [], refusals }
  return { library, isWorker, code: source.edits.toString(), notes, refusals }
}

function change(source, { library, found }) {
  if (found.statements.length === 0) return
  try {
    libraries[library](source, found)
    checkNames(source, found.statements)
    if (source.refusals.length === 0) writeImports(source, found.statements)
  } catch (error) {
    // Two edits at one place: magic-string refuses the second one.
    if (!/already been edited|zero-length/.test(error.message)) throw error
    source.refuse(source.program, 'Two changes overlap in this file.')
  }
}
