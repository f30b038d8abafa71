// Compares what source files import with the table in architecture.json. Pure: texts in, violations out.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { readImports } from './read-imports.js'

/** A file named by the user, checked where it comes in; and the worker's side, which the host reaches by URL. */
const mayComputeImports = [
  'worker/handler-loader.ts',
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
    const room = roomOf(table, path)
    const { imports, globals } = readImports(path, text)
    if (room === undefined) complain(1, path, 'a file stands in a room of architecture.json')
    else for (const found of imports) checkImport(table, sources, path, room, found, complain)
    if (isTest(path)) continue
    for (const keeper of table.keepers) checkKeeper(keeper, path, imports, globals, complain)
  }
  return violations
}

export function describeViolation({ file, line, imported, rule }) {
  return `${file}:${line} imports or uses ${imported}, but ${rule}`
}

function checkImport(table, sources, path, room, { line, specifier, kind }, complain) {
  if (specifier === null) {
    if (!mayComputeImports.includes(path) && !isTest(path))
      complain(line, 'a computed module', 'imports are plain strings')
    return
  }
  const alias = table.aliases?.[specifier]
  if (specifier.startsWith('.') || alias !== undefined) {
    const target = alias ?? targetOf(sources, path, specifier)
    if (target === undefined) return complain(line, specifier, 'an import leads to a source file')
    const allowed = allowedFor(table, room, path)
    if (isWithin(target, room) || allowed.some(pattern => isWithin(target, pattern))) return
    const list = allowed.length === 0 ? 'nothing else' : `only ${allowed.join(', ')}`
    return complain(line, target, `${room} may import ${list}${kind === 'type' ? ' (types too)' : ''}`)
  }
  if (specifier.startsWith('node:')) return
  if (builtinModules.includes(specifier))
    return complain(line, specifier, "Node's modules are named with 'node:'")
  const users = table.packages[specifier]
  if (users === undefined) complain(line, specifier, 'the package depends on no other')
  else if (!users.includes(path)) complain(line, specifier, `only ${users.join(', ')} may import it`)
}

function checkKeeper(keeper, path, imports, globals, complain) {
  if (keeper.files.some(pattern => isWithin(path, pattern))) return
  const rule = `${keeper.promise}: ${keeper.files.join(', ')}`
  for (const { line, name } of globals) {
    if (keeper.globals?.includes(name)) complain(line, name, rule)
  }
  for (const { line, specifier, kind, names } of imports) {
    if (kind === 'type' || specifier === null) continue
    const guarded = keeper.imports?.[specifier] ?? keeper.imports?.[`node:${specifier}`]
    if (guarded === undefined) continue
    const taken = names.filter(name => guarded === '*' || name === '*' || guarded.includes(name))
    if (taken.length > 0) complain(line, `${taken.join(', ')} of ${specifier}`, rule)
  }
}

/** The most particular room that the path lies in. A star stands for one folder's name. */
function roomOf(table, path) {
  const rooms = Object.keys(table.rooms).map(room => {
    const depth = room.split('/').length
    return room.endsWith('/*') ? { room, at: path.split('/').slice(0, depth).join('/') } : { room, at: room }
  })
  const holding = rooms.filter(({ room, at }) => isWithin(path, at) && isWithin(path, room))
  return holding.sort((one, other) => other.at.length - one.at.length)[0]?.at
}

function allowedFor(table, room, path) {
  const pattern = Object.hasOwn(table.rooms, room) ? room : `${posix.dirname(room)}/*`
  const allowed = table.rooms[pattern]
  return isTest(path) ? [...allowed, ...table.tests.mayAlsoImport] : allowed
}

function isWithin(path, pattern) {
  const folder = pattern.endsWith('/*') ? pattern.slice(0, -2) : pattern
  return path === folder || path.startsWith(`${folder}/`)
}

function targetOf(sources, path, specifier) {
  const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
  return sources.has(target) ? target : undefined
}

function isTest(path) {
  return path.endsWith('.test.ts')
}
