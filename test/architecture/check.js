// Compares the imports of source files with the table in architecture.json, and finds import circles. Pure functions over texts.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { readImports } from './read-imports.js'

/** Files that import modules which the user names, or files of the worker. */
const mayComputeImports = [
  'worker/run/module-loader.ts',
  'adapters/tinypool/in-worker.ts',
  'adapters/workerpool/in-worker.ts',
  'host/backend/inline-backend.ts',
  'adapters/body/functions.ts',
]

/**
 * @param table architecture.json
 * @param sources a Map from paths below src/, with slashes, to texts
 * @returns violations as `{ file, line, imported, rule }`
 */
export function findViolations(table, sources) {
  const violations = []
  for (const [path, text] of sources) {
    const complain = (line, imported, rule) => violations.push({ file: `src/${path}`, line, imported, rule })
    const folder = folderOf(table, path)
    const { imports, globals } = readImports(path, text)
    if (folder === undefined) complain(1, path, 'every file must be in a folder of architecture.json')
    else for (const found of imports) checkImport(table, sources, path, folder, found, complain)
    if (isTest(path)) continue
    for (const owner of table.owners) checkOwner(owner, path, imports, globals, complain)
  }
  return violations
}

/**
 * Circles of files that import each other. Imports of types count. A file may import itself: a nested namespace needs it.
 * @returns each circle as a text, 'a.ts → b.ts → a.ts'
 */
export function findCircles(table, sources) {
  const circles = []
  const visited = new Set()
  const visit = (path, trail) => {
    const start = trail.indexOf(path)
    if (start >= 0) circles.push([...trail.slice(start), path].join(' → '))
    if (visited.has(path)) return
    visited.add(path)
    for (const { specifier } of readImports(path, sources.get(path)).imports) {
      if (specifier === null || !isOwn(table, specifier)) continue
      const target = targetOf(table, sources, path, specifier)
      if (target !== undefined && target !== path) visit(target, [...trail, path])
    }
  }
  for (const path of sources.keys()) visit(path, [])
  return circles
}

export function describeViolation({ file, line, imported, rule }) {
  return `${file}:${line} imports or uses ${imported}, but ${rule}`
}

function checkImport(table, sources, path, folder, { line, specifier, kind }, complain) {
  if (specifier === null) {
    if (!mayComputeImports.includes(path) && !isTest(path))
      complain(line, 'a computed module', 'an import must be a plain string')
    return
  }
  if (isOwn(table, specifier)) {
    const target = targetOf(table, sources, path, specifier)
    if (target === undefined) return complain(line, specifier, 'an import must lead to a source file')
    const allowed = allowedFor(table, folder, path)
    if (isWithin(target, folder) || allowed.some(pattern => isWithin(target, pattern))) return
    const list = allowed.length === 0 ? 'nothing else' : `only ${allowed.join(', ')}`
    return complain(line, target, `${folder} may import ${list}${kind === 'type' ? ' (types too)' : ''}`)
  }
  if (specifier.startsWith('node:')) return
  if (builtinModules.includes(specifier))
    return complain(line, specifier, "the names of Node's modules must begin with 'node:'")
  const users = table.packages[specifier]
  if (users === undefined) complain(line, specifier, 'this package has no dependencies')
  else if (!users.includes(path)) complain(line, specifier, `only ${users.join(', ')} may import it`)
}

function checkOwner(owner, path, imports, globals, complain) {
  if (owner.files.some(pattern => isWithin(path, pattern))) return
  const rule = `${owner.rule}: ${owner.files.join(', ')}`
  for (const { line, name } of globals) {
    if (owner.globals?.includes(name)) complain(line, name, rule)
  }
  for (const { line, specifier, kind, names } of imports) {
    if (kind === 'type' || specifier === null) continue
    const guarded = owner.imports?.[specifier] ?? owner.imports?.[`node:${specifier}`]
    if (guarded === undefined) continue
    const taken = names.filter(name => guarded === '*' || name === '*' || guarded.includes(name))
    if (taken.length > 0) complain(line, `${taken.join(', ')} of ${specifier}`, rule)
  }
}

/** The innermost folder of the table that contains the path. A star stands for any folder name. */
function folderOf(table, path) {
  const folders = Object.keys(table.folders).map(name => {
    const depth = name.split('/').length
    return name.endsWith('/*') ? { name, at: path.split('/').slice(0, depth).join('/') } : { name, at: name }
  })
  const containing = folders.filter(({ name, at }) => isWithin(path, at) && isWithin(path, name))
  return containing.sort((one, other) => other.at.length - one.at.length)[0]?.at
}

function allowedFor(table, folder, path) {
  const pattern = Object.hasOwn(table.folders, folder) ? folder : `${posix.dirname(folder)}/*`
  const allowed = [...table.everywhere.folders, ...table.folders[pattern]]
  return isTest(path) ? [...allowed, ...table.tests.mayAlsoImport] : allowed
}

function isWithin(path, pattern) {
  const folder = pattern.endsWith('/*') ? pattern.slice(0, -2) : pattern
  return path === folder || path.startsWith(`${folder}/`)
}

function isOwn(table, specifier) {
  return specifier.startsWith('.') || Object.hasOwn(table.aliases, specifier)
}

function targetOf(table, sources, path, specifier) {
  const alias = table.aliases[specifier]
  if (alias !== undefined) return alias
  const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
  return sources.has(target) ? target : undefined
}

function isTest(path) {
  return path.endsWith('.test.ts')
}
