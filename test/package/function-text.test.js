// The text check of pool.call() against the TypeScript compiler, on functions of installed libraries.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { transformSync } from 'esbuild'
import ts from 'typescript'

/** The file imports nothing. */
const file = new URL('../../src/host/calls/function-text.ts', import.meta.url)
const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts' })
const { readFunction } = await import(`data:text/javascript,${encodeURIComponent(code)}`)

const known = name => name in globalThis

test('functions of real libraries have only free names that the compiler finds too', t => {
  const texts = libraryFunctions()
  const truth = undeclaredNames(texts)
  let [names, missed] = [0, 0]
  for (const [index, text] of texts.entries()) {
    const { free } = readFunction(text) ?? { free: [] }
    const undeclared = truth[index]
    const ours = free.filter(name => /^[\w$]+$/.test(name) && !special.has(name) && !known(name))
    assert.deepEqual(
      ours.filter(name => !undeclared.has(name)),
      [],
      text,
    )
    const real = [...undeclared].filter(name => !known(name) && !special.has(name))
    names += real.length
    missed += real.filter(name => !ours.includes(name)).length
  }
  t.diagnostic(`${texts.length} functions, ${names} free names, ${missed} of them not found`)
  assert.ok(texts.length > 300 && missed < names / 10)
})

/** The compiler knows them in every file, or not as names. */
const special = new Set(['require', 'module', 'exports', 'this', 'super', 'arguments'])

function libraryFunctions() {
  const texts = new Set()
  for (const library of ['express/lib', 'fastify/lib', 'body-parser/lib', 'pg/lib']) {
    const folder = join(import.meta.dirname, '../../node_modules', library)
    for (const name of readdirSync(folder).filter(name => name.endsWith('.js'))) {
      const source = readFileSync(join(folder, name), 'utf8').replaceAll('@ts-', '')
      const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest)
      const visit = node => {
        if (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node))
          texts.add(node.getText(file))
        ts.forEachChild(node, visit)
      }
      visit(file)
    }
  }
  return [...texts]
}

/** For each function, the names that the compiler does not find. */
function undeclaredNames(texts) {
  const files = new Map(texts.map((text, index) => [`/${index}.js`, `(${text}\n)`]))
  const options = {
    allowJs: true,
    checkJs: true,
    noLib: true,
    noResolve: true,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  host.fileExists = name => files.has(name)
  host.readFile = name => files.get(name)
  host.getSourceFile = (name, version) => {
    const source = files.get(name)
    return source === undefined ? undefined : ts.createSourceFile(name, source, version, true)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files.keys()].map(name => {
    const found = program
      .getSemanticDiagnostics(program.getSourceFile(name))
      .filter(({ messageText }) => /^Cannot find name|^No value exists in scope/.test(String(messageText)))
    const texts = found.map(({ start, length }) => files.get(name).slice(start, start + length))
    return new Set(texts)
  })
}
