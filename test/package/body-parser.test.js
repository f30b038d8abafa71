// Which body-parser reads the bodies. In a program of Express 4 that also has a body-parser of its own, the two differ in
// what they refuse and how: the one that Express brings is the one that `express.json()` reads with.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import { answer, project, run, write } from './installed.js'

const modules = join(project, 'node_modules')

const program = `
  const { json } = require('lido/body')
  globalThis.read = []
  json()
  console.log(JSON.stringify(globalThis.read))`

/** A body-parser that says whose it is when it is asked for a middleware, beside an iconv-lite. */
function installBodyParser(folder, owner) {
  write(join('node_modules', folder, 'body-parser', 'index.js'), `exports.json = () => read.push('${owner}')`)
  write(join('node_modules', folder, 'iconv-lite', 'index.js'), '')
}

beforeEach(() => {
  for (const name of ['express', 'body-parser', 'iconv-lite']) {
    rmSync(join(modules, name), { recursive: true, force: true })
  }
})

test("the one that Express brings is taken before the program's own", async () => {
  write('node_modules/express/index.js', '')
  installBodyParser('express/node_modules', 'of Express')
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('both.cjs', program)), ['of Express'])
})

test('the one that Express shares with the program is taken', async () => {
  write('node_modules/express/index.js', '')
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('shared.cjs', program)), ['own'])
})

test("without Express the program's own is taken", async () => {
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('own.cjs', program)), ['own'])
})

test("an Express that brings none leaves the program's own", async () => {
  write('node_modules/express/index.js', '')
  const missing = `try { ${program} } catch (error) { console.log(JSON.stringify(error.message)) }`
  assert.match(answer(await run('none.cjs', missing)), /Run: npm install body-parser$/)
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('left.cjs', program)), ['own'])
})

test('a reader finds no body where body-parser 1 sets an empty object', async () => {
  const passes = 'exports.json = () => (request, _response, next) => { request.body ??= {}; next() }'
  write('node_modules/body-parser/index.js', passes)
  write('node_modules/iconv-lite/index.js', '')
  const reading = `
    const { jsonReader } = require('lido/body')
    const read = jsonReader()
    const request = { headers: {} }
    const bodies = [read(request), read(request), read({ headers: {}, body: 1 })]
    Promise.all(bodies).then(found => console.log(JSON.stringify(found.map(String))))`
  const found = answer(await run('version-1.cjs', reading))
  assert.deepEqual(found, ['undefined', 'undefined', '1'])
})
