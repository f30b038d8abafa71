// Changes the texts of a program.
import { basename, extname } from 'node:path'
import { changeClassPools, piscina, tinypool } from './class-pools.js'
import { checkNames, findImports, writeImports } from './imports.js'
import { isTodo, withoutTodos, writePartial } from './partial.js'
import { Source } from './source.js'
import { changeWorkerpool } from './workerpool.js'

const libraries = {
  piscina: (source, found) => changeClassPools(source, found, piscina),
  tinypool: (source, found) => changeClassPools(source, found, tinypool),
  workerpool: changeWorkerpool,
}
const names = /(?<!lido\/|[\w-])(piscina|tinypool|workerpool|Piscina|Tinypool)(?![\w-])/
const doors = /['"`]lido\/(piscina|tinypool|workerpool)['"`]/
/** Names that only a worker of tinypool uses. */
const stateOfTinypool = /__tinypool_(state|worker_message)__|TINYPOOL_WORKER_ID/

/**
 * Changes the texts of a program, `[{ path, text, problem }]`. A file with a `problem` stays. Returns
 * `{ path, text, library, code, isPartial, notes, refusals, mentions }` for each file that names one of the libraries.
 *
 * Pools and their workers must use the same library. So where workers import the library, all of its files change completely, or all of
 * them import the door of lido, or none changes.
 * @param onFile is called before each file
 */
export function migrateAll(files, onFile = () => {}) {
  const results = files.flatMap(({ path, text, problem }, index) => {
    onFile(index)
    const result = read(text, path)
    if (result?.library && problem) stay(result, problem)
    return result === null ? [] : [{ path, text, ...result }]
  })
  for (const result of results) checkOthers(result, files, results)
  alignWithWorkers(results, ({ code }) => code === null, stay)
  alignWithWorkers(results, ({ isPartial }) => isPartial, postpone)
  return results
}

/**
 * Changes one text. Returns `null` if it names none of the libraries. Otherwise `{ library, isWorker, code, isPartial, notes, refusals,
 * mentions }`. Without refusals, `code` uses the API of lido. With refusals, the change is partial: `code` imports the door of lido for the
 * library, and has a comment for each refusal. `code` is `null` if the text is not understood. `library` is empty if the file only
 * mentions a name.
 */
export function migrate(text, path) {
  return read(text, path)
}

/** Leaves the file as it is. */
function stay(result, text) {
  const refusals = [...result.refusals, { line: 1, start: 0, text }]
  Object.assign(result, { code: null, isPartial: false, notes: [], refusals })
}

/** Changes only the import, and adds a comment. */
function postpone(result, text) {
  if (result.code === null) return
  const refusals = [...result.refusals, { line: 1, start: 0, text }]
  Object.assign(result, { code: result.writePartial(refusals), isPartial: true, notes: [], refusals })
}

/** Applies `hold` to the files that must wait for another file of their library, because its workers import the library. */
function alignWithWorkers(results, isHeldBack, hold) {
  const holders = new Map()
  for (const result of results.filter(isHeldBack))
    for (const name of result.library.split(', ')) holders.set(name, result.path)
  for (const result of results) {
    if (isHeldBack(result) || result.code === null || result.library === '') continue
    const library = result.library.split(', ').find(name => holders.has(name) && haveWorkers(results, name))
    if (library === undefined) continue
    const other = holders.get(library)
    hold(result, `The file waits for ${other}, because a pool and its workers must use the same library.`)
  }
}

/** Finds a pool that is a field of other files, or whose worker is missing or does not fit. */
function checkOthers(result, files, results) {
  for (const field of result.isPartial ? [] : result.fields) {
    const other = files.find(({ path, text }) => {
      // A class in another file may have a field of its own. A subclass has the same field.
      const own = /\bextends\b/.test(text) ? 'workerpool' : 'this|workerpool'
      const use = new RegExp(`(?<!\\b(?:${own}))\\.${field}\\b|\\{[^{}]*\\b${field}\\b[^{}]*\\}\\s*=`)
      return path !== result.path && use.test(text)
    })
    if (other !== undefined)
      postpone(result, `${other.path} also has a '.${field}'. Give the field a private name first.`)
  }
  if (result.isPartial && result.library.includes('workerpool') && !result.hasPool && !result.callsWorker)
    stay(result, 'The pools of this file are not readable. Its workers must use the same library.')
  for (const script of result.scripts) {
    const isScript = ({ path }) => basename(path, extname(path)) === script
    const hook = result.library === 'tinypool' ? /\bsetup\b/ : /\b(setup|teardown)\b/
    const hooked = files.find(file => isScript(file) && hook.test(file.text))
    if (result.library !== 'workerpool') {
      if (hooked !== undefined)
        postpone(
          result,
          `lido calls exports named 'setup' and 'teardown' by itself. Rename them in ${hooked.path}.`,
        )
    } else if (!results.some(other => isScript(other) && other.isWorker))
      stay(result, `The worker '${script}' is not among the files. Give its folder, too.`)
  }
}

/** Workers of workerpool always import it. Workers of the others may import `move()` or `workerData`. */
function haveWorkers(results, library) {
  return (
    library === 'workerpool' ||
    results.some(other => other.isWorker && other.library.split(', ').includes(library))
  )
}

function read(text, path) {
  if (!names.test(text) && !doors.test(text) && !stateOfTinypool.test(text)) return null
  const isNamed = name => new RegExp(`\\b${name}\\b`).test(text)
  const result = { library: '', isWorker: true, code: null, isPartial: false }
  Object.assign(result, { notes: [], refusals: [], mentions: [], fields: [], scripts: [] })
  try {
    return { ...result, ...readSource(new Source(text, path), path) }
  } catch (error) {
    // An error in the text, or a text that this program does not understand at all.
    const refusals = [
      { line: error.loc?.line ?? 1, start: 0, text: `The file is not understood: ${error.message}` },
    ]
    return { ...result, library: Object.keys(libraries).filter(isNamed).join(', '), refusals }
  }
}

function readSource(source, path) {
  const used = Object.keys(libraries)
    .map(library => ({ library, found: findImports(source, library) }))
    .filter(({ found }) => found.isUsed)
  for (const node of source.ofType('Identifier', 'StringLiteral')) {
    const name = node.name ?? node.value
    if (stateOfTinypool.test(name)) source.refuse(node, `lido does not set ${name}.`)
  }
  if (used.length === 0 && source.refusals.length > 0)
    used.push({ library: 'tinypool', found: { specifiers: [] } })
  const mentions = mentionsIn(source, used)
  if (used.length === 0) return { isWorker: false, code: source.text, mentions }
  if (used.length > 1)
    source.refuse(source.program, 'The file uses several of these libraries. Split it first.')
  else if (used[0].found.statement !== undefined) change(source, used[0])
  const { scripts, hasPool, callsWorker } = source
  const code = source.refusals.length === 0 ? changedText(source, path, used[0].found) : null
  const specifiers = used.flatMap(({ found }) => found.specifiers)
  const head = {
    library: used.map(({ library }) => library).join(', '),
    isWorker: !hasPool,
    ...{ mentions, scripts, hasPool, callsWorker },
    writePartial: decisions => writePartial(source, specifiers, decisions),
  }
  const byLine = list => list.sort((one, other) => one.line - other.line)
  if (code !== null) return { ...head, code, notes: byLine(source.notes), fields: source.fields }
  const partial = head.writePartial(source.refusals)
  parseResult(partial, path)
  const isOther = ({ line }) => !source.refusals.some(refusal => refusal.line === line)
  return {
    ...head,
    ...{ code: partial, isPartial: true, refusals: byLine(source.refusals) },
    mentions: mentions.filter(isOther),
  }
}

/** The places outside the changed texts that name a library. */
function mentionsIn(source, used) {
  const isImport = ({ start, end }) =>
    used.some(
      ({ found: { statement, specifiers } }) =>
        (statement && statement.start <= start && start < statement.end) ||
        specifiers.some(({ node }) => node.start === start && node.end === end),
    )
  const keys = source
    .ofType('ObjectProperty')
    .flatMap(({ key, shorthand }) => (shorthand || !key.name ? [] : [{ node: key, text: key.name }]))
  return [...source.texts, ...keys]
    .filter(({ node, text }) => names.test(text) && !isImport(node) && !isTodo(node))
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

/** The text with the API of lido; `null` after a refusal, if the text would have an error or would still use a name of the old import. */
function changedText(source, path, { whole, named }) {
  const code = withoutTodos(source.edits.toString())
  try {
    const changed = parseResult(code, path)
    const imported = new Set([...source.needs.values()].flatMap(locals => [...locals.values()]))
    for (const name of [...whole, ...named.keys()]) {
      const [reference] = imported.has(name) ? [] : changed.references(name)
      if (reference !== undefined) throw new Error(`The changed file would still use '${name}'.`)
    }
    return code
  } catch (error) {
    source.refuse(source.program, error.message)
    return null
  }
}

function parseResult(code, path) {
  try {
    return new Source(code, path)
  } catch (error) {
    throw new Error(`The changed text would have an error: ${error.message}`)
  }
}
