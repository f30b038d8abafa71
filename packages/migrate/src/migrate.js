// Changes the texts of a program.
import { basename, extname } from 'node:path'
import { changeClassPools, piscina, tinypool } from './class-pools.js'
import { checkNames, findImports, writeImports } from './imports.js'
import { Source } from './source.js'
import { changeWorkerpool } from './workerpool.js'

const libraries = {
  piscina: (source, found) => changeClassPools(source, found, piscina),
  tinypool: (source, found) => changeClassPools(source, found, tinypool),
  workerpool: changeWorkerpool,
}
const names = /(?<!lido\/|[\w-])(piscina|tinypool|workerpool|Piscina|Tinypool)(?![\w-])/
/** Names that only a worker of tinypool uses. */
const stateOfTinypool = /__tinypool_(state|worker_message)__|TINYPOOL_WORKER_ID/

/**
 * Changes the texts of a program, `[{ path, text, problem }]`. A file with a `problem` stays. Returns `{ path, text, library, code, notes, refusals, mentions }` for each file
 * that names one of the libraries. `code` is `null` if the file stays as it is. Pools and their workers must use the same library. So
 * where workers import the library, all of its files change, or none.
 */
export function migrateAll(files) {
  const results = files.flatMap(({ path, text, problem }) => {
    const result = migrate(text, path)
    if (result?.library && problem) refuse(result, problem)
    return result === null ? [] : [{ path, text, ...result }]
  })
  for (const result of results) checkOthers(result, files, results)
  const staying = new Map()
  for (const { path, library, code } of results) {
    if (code === null) for (const name of library.split(', ')) staying.set(name, path)
  }
  return results.map(result => {
    const other = staying.get(result.library)
    const waits = result.code !== null && other !== undefined && haveWorkers(results, result.library)
    if (!waits) return result
    return refuse(
      result,
      `The file waits for ${other}, because a pool and its workers must use the same library.`,
    )
  })
}

function refuse(result, text) {
  const refusals = [...result.refusals, { line: 1, text }]
  return Object.assign(result, { code: null, notes: [], refusals })
}

/** Refuses a file whose pool is a field that other files use, or whose worker is missing or does not fit. */
function checkOthers(result, files, results) {
  for (const field of result.fields) {
    const other = files.find(({ path, text }) => {
      // A class in another file may have a field of its own. A subclass has the same field.
      const own = /\bextends\b/.test(text) ? 'workerpool' : 'this|workerpool'
      const use = new RegExp(`(?<!\\b(?:${own}))\\.${field}\\b|\\{[^{}]*\\b${field}\\b[^{}]*\\}\\s*=`)
      return path !== result.path && use.test(text)
    })
    if (other !== undefined)
      refuse(result, `${other.path} also has a '.${field}'. Give the field a private name first.`)
  }
  for (const script of result.scripts) {
    const isScript = ({ path }) => basename(path, extname(path)) === script
    const hook = result.library === 'tinypool' ? /\bsetup\b/ : /\b(setup|teardown)\b/
    const hooked = files.find(file => isScript(file) && hook.test(file.text))
    if (result.library !== 'workerpool') {
      if (hooked !== undefined)
        refuse(
          result,
          `lido calls exports named 'setup' and 'teardown' by itself. Rename them in ${hooked.path}.`,
        )
    } else if (!results.some(other => isScript(other) && other.isWorker))
      refuse(result, `The worker '${script}' is not among the files. Give its folder, too.`)
  }
}

/** Workers of workerpool always import it. Workers of the others may import `move()` or `workerData`. */
function haveWorkers(results, library) {
  return (
    library === 'workerpool' ||
    results.some(other => other.isWorker && other.library.split(', ').includes(library))
  )
}

/**
 * Returns `null` if the file names none of the libraries. Otherwise `{ library, isWorker, code, notes, refusals, mentions }`. With
 * refusals the file stays as it is, and `code` is `null`. `library` is empty if the file only mentions a name.
 */
export function migrate(text, path) {
  if (!names.test(text) && !stateOfTinypool.test(text)) return null
  const isNamed = name => new RegExp(`\\b${name}\\b`).test(text)
  const result = { library: '', isWorker: true, code: null, notes: [], refusals: [], mentions: [] }
  Object.assign(result, { fields: [], scripts: [] })
  try {
    return { ...result, ...read(new Source(text, path)) }
  } catch (error) {
    // An error in the text, or a text that this program does not understand at all.
    const refusals = [{ line: error.loc?.line ?? 1, text: `The file is not understood: ${error.message}` }]
    return { ...result, library: Object.keys(libraries).filter(isNamed).join(', '), refusals }
  }

  function read(source) {
    const used = Object.keys(libraries)
      .map(library => ({ library, found: findImports(source, library) }))
      .filter(({ found }) => found.isUsed)
    for (const node of source.ofType('Identifier', 'StringLiteral')) {
      const name = node.name ?? node.value
      if (stateOfTinypool.test(name)) source.refuse(node, `lido does not set ${name}.`)
    }
    if (used.length === 0 && source.refusals.length > 0) used.push({ library: 'tinypool', found: {} })
    const mentions = mentionsIn(source, used)
    if (used.length === 0) return { isWorker: false, code: text, mentions }
    if (used.length > 1) source.refuse(source.program, 'The file uses several of these libraries.')
    else if (used[0].found.statement !== undefined) change(source, used[0])
    const byLine = list => list.sort((one, other) => one.line - other.line)
    const head = {
      library: used.map(({ library }) => library).join(', '),
      isWorker: !source.hasPool,
      mentions,
    }
    if (source.refusals.length > 0) {
      const isOther = ({ line }) => !source.refusals.some(refusal => refusal.line === line)
      return { ...head, refusals: byLine(source.refusals), mentions: mentions.filter(isOther) }
    }
    const code = source.edits.toString()
    checkResult(code, path, used[0].found, source.needs)
    return { ...head, code, notes: byLine(source.notes), fields: source.fields, scripts: source.scripts }
  }
}

/** The places outside the changed import that name a library. */
function mentionsIn(source, used) {
  const isImport = ({ start }) =>
    used.some(({ found: { statement } }) => statement && statement.start <= start && start < statement.end)
  const keys = source
    .ofType('ObjectProperty')
    .flatMap(({ key, shorthand }) => (shorthand || !key.name ? [] : [{ node: key, text: key.name }]))
  return [...source.texts, ...keys]
    .filter(({ node, text }) => names.test(text) && !isImport(node))
    .map(({ node, text }) => ({ line: node.loc.start.line, text: text.trim().split('\n')[0].slice(0, 80) }))
    .sort((one, other) => one.line - other.line)
}

function change(source, { library, found }) {
  for (const node of [...source.references('eval'), ...source.ofType('WithStatement')])
    source.refuse(node, 'Code in eval() or with() is not readable.')
  libraries[library](source, found)
  checkNames(source, found.statement)
  if (source.refusals.length === 0) writeImports(source, found.statement)
}

function parseResult(code, path) {
  try {
    return new Source(code, path)
  } catch (error) {
    throw new Error(`The changed text would have an error: ${error.message}`)
  }
}

/** Throws if the changed text has an error, or still uses a name of the old import. */
function checkResult(code, path, { whole, named }, needs) {
  const changed = parseResult(code, path)
  const imported = new Set([...needs.values()].flatMap(locals => [...locals.values()]))
  for (const name of [...whole, ...named.keys()]) {
    const [reference] = imported.has(name) ? [] : changed.references(name)
    if (reference !== undefined) throw new Error(`The changed file would still use '${name}'.`)
  }
}
