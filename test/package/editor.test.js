// Asks TypeScript's language service what an editor shows for the declarations of the package: the text at each name, and the
// names that it offers.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const doors = Object.keys(exports)
  .filter(door => door !== './package.json')
  .map(door => door.replace('.', 'lido'))
/** Their types are those of another package, whose documentation describes them. Only their classes and options have texts here. */
const compatible = ['lido/piscina', 'lido/tinypool', 'lido/workerpool']
const isDescribed = ({ door, name }) =>
  !compatible.includes(door) || /Options$|^(Piscina|Tinypool|Pool)$/.test(name)
const site = /https:\/\/[\w.]+\/lido\/([\w/-]+)\.html(?:#([\w-]+))?/g

const files = {
  'doors.mts': doors.map((door, index) => `import * as door${index} from '${door}'`).join('\n'),
  'handlers.mts': `
    /** Makes a picture smaller. */
    export function resize(bytes: Uint8Array, size: { width: number }): Uint8Array { return bytes.subarray(size.width) }
    export const length = (text: string) => text.length
    export default (text: string) => text`,
  'program.mts': `
    import { Pool } from 'lido'
    const pool = new Pool({ module: () => import('./handlers.mjs'), maxQueue: 10 })
    pool.on('drain', () => {})
    pool.run('text', { name: 'length', timeout: 1_000 })
    pool.api.resize(new Uint8Array(9), { width: 3 })
    const settings = pool.options.maxQueue
    pool.run('text', { name: '' })
    pool.map(['text'], { name: '' })
    pool.stream('text', { name: '' })
    pool.broadcast('text', { name: '' })
    pool.transform({ name: '' })`,
}
const service = ts.createLanguageService({
  getScriptFileNames: () => Object.keys(files).map(name => join(root, name)),
  getScriptVersion: () => '1',
  getScriptSnapshot(path) {
    const text = textOf(path)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  getCurrentDirectory: () => root,
  getCompilationSettings: () => ({
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  }),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: path => textOf(path) !== undefined,
  readFile: textOf,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
  realpath: ts.sys.realpath,
})
const checker = service.getProgram().getTypeChecker()

function textOf(path) {
  const name = Object.keys(files).find(file => join(root, file) === path)
  return name === undefined ? ts.sys.readFile(path) : files[name]
}

/** The text that an editor shows for a name, without the signature. */
function shownFor(symbol) {
  const parts = symbol.getDocumentationComment(checker)
  const tags = symbol.getJsDocTags(checker)
  return [...parts, ...tags.flatMap(({ name, text = [] }) => [{ text: `\n@${name} ` }, ...text])]
    .map(({ text }) => text)
    .join('')
}

/** What the declarations of the package export, by door. A name that two doors export is listed once. */
function exportedSymbols() {
  const source = service.getProgram().getSourceFile(join(root, 'doors.mts'))
  const seen = new Set()
  return source.statements.flatMap((statement, index) => {
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier)
    assert.ok(module, `no declarations of ${doors[index]}`)
    return checker.getExportsOfModule(module).flatMap(symbol => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      if (seen.has(target)) return []
      seen.add(target)
      return [{ door: doors[index], name: symbol.name, symbol, target }]
    })
  })
}

const exported = exportedSymbols()

/** The members of an exported type or class that the package declares. Names such as `[Symbol.iterator]` are left out. */
function membersOf({ target }) {
  const types = []
  if (target.flags & ts.SymbolFlags.Type) types.push(checker.getDeclaredTypeOfSymbol(target))
  if (target.flags & ts.SymbolFlags.Class) types.push(checker.getTypeOfSymbol(target))
  return types
    .filter(type => !type.isUnion() && type.flags & ts.TypeFlags.Object)
    .flatMap(type => checker.getPropertiesOfType(type))
    .filter(isOurs)
    .filter(({ name }) => !/^(__|#|prototype$)/.test(name))
}

function isOurs({ declarations = [] }) {
  return declarations.some(declaration => declaration.getSourceFile().fileName.startsWith(join(root, 'dist')))
}

const isMethod = ({ flags }) => (flags & ts.SymbolFlags.Method) !== 0

function positionOf(text, file = 'program.mts') {
  const at = files[file].indexOf(text)
  assert.ok(at >= 0, text)
  return at
}

/** The text at a place of the program, with the signature. */
function hoverAt(text, word) {
  const info = service.getQuickInfoAtPosition(
    join(root, 'program.mts'),
    positionOf(text) + text.indexOf(word),
  )
  assert.ok(info, `nothing is shown at ${word} of ${text}`)
  return [...info.displayParts, ...info.documentation].map(part => part.text).join('')
}

describe('texts in the editor', () => {
  // TypeScript shows no text at the name of a module. The text is for a reader of the declarations, and for the site.
  test('the declarations of each door begin with a text and a link', () => {
    const source = service.getProgram().getSourceFile(join(root, 'doors.mts'))
    for (const [index, { moduleSpecifier }] of source.statements.entries()) {
      const [{ text }] = checker.getSymbolAtLocation(moduleSpecifier).declarations
      assert.match(text, /^\/\*\*\n \* [^@]+@module\n \* @see \[[^\]]+\]\(https:/, doors[index])
    }
  })

  test('each exported name has a text', () => {
    const silent = exported.filter(({ symbol, target }) => shownFor(symbol) === '' && shownFor(target) === '')
    assert.equal(
      silent
        .filter(({ target }) => isOurs(target))
        .map(({ door, name }) => `${door}: ${name}`)
        .join('\n'),
      '',
    )
  })

  test('each member of an exported type has a text', () => {
    const silent = exported.filter(isDescribed).flatMap(item =>
      membersOf(item)
        .filter(member => shownFor(member) === '')
        .map(member => `${item.door}: ${item.name}.${member.name}`),
    )
    assert.equal(silent.join('\n'), '')
  })

  test('each option, event and method has an example or a link to its page', () => {
    const bare = exported
      .filter(({ door }) => !compatible.includes(door) && door !== 'lido/kit')
      .flatMap(item => {
        const isList = /(Options|Events|Config)$/.test(item.name)
        const isClass = (item.target.flags & ts.SymbolFlags.Class) !== 0
        return membersOf(item)
          .filter(member => isList || (isClass && isMethod(member)))
          .filter(member => !/@example|https:/.test(shownFor(member)))
          .map(member => `${item.door}: ${item.name}.${member.name}`)
      })
    assert.equal(bare.join('\n'), '')
  })

  test('each link leads to a page of the site and to one of its headings', () => {
    const texts = service
      .getProgram()
      .getSourceFiles()
      .filter(({ fileName }) => fileName.startsWith(join(root, 'dist')))
      .map(({ text }) => text)
    const links = new Map(texts.flatMap(text => [...text.matchAll(site)]).map(found => [found[0], found]))
    assert.ok(links.size > 30, `${links.size} links`)
    for (const [link, [, page, anchor]] of links) {
      const file = join(root, 'docs', `${page}.md`)
      assert.ok(existsSync(file), link)
      if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(file, 'utf8')).has(anchor), link)
    }
  })

  test('an option, an event, a setting and a name are described where a program uses them', () => {
    assert.match(hoverAt('maxQueue: 10', 'maxQueue'), /Most tasks that may be queued/)
    assert.match(hoverAt("pool.on('drain'", 'on'), /`drain`: the queue has room again/)
    assert.match(hoverAt("name: 'length'", 'name'), /The name of the export/)
    assert.match(hoverAt('timeout: 1_000', 'timeout'), /Milliseconds that the task may run/)
    assert.match(hoverAt('pool.options.maxQueue', 'maxQueue'), /A number, also for/)
  })

  test('a function of pool.api has the comment and the place of the function in the module', () => {
    assert.match(hoverAt('pool.api.resize', 'resize'), /Makes a picture smaller/)
    const position = positionOf('pool.api.resize') + 'pool.api.'.length
    const [place] = service.getDefinitionAtPosition(join(root, 'program.mts'), position)
    assert.equal(place.fileName, join(root, 'handlers.mts'))
  })

  for (const method of ['run', 'map', 'stream', 'broadcast', 'transform']) {
    test(`the option name of ${method}() offers the names of the handlers`, () => {
      const call = files['program.mts'].split('\n').findLast(line => line.includes(`.${method}(`))
      const position = positionOf(call) + call.indexOf("''") + 1
      const { entries = [] } =
        service.getCompletionsAtPosition(join(root, 'program.mts'), position, undefined) ?? {}
      assert.deepEqual(entries.map(({ name }) => name).sort(), ['default', 'length'])
    })
  }
})

/** The anchors of the headings of a page. */
function anchorsOf(text) {
  const headings = text.replace(/^ *```.*?^ *```$/gms, '').matchAll(/^#{1,6} (.*)$/gm)
  return new Set(
    Array.from(headings, ([, heading]) =>
      heading
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
