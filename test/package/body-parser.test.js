// The choice of the body-parser that reads the bodies. A program with Express 4 may have a second body-parser of its own. The
// two refuse different bodies. lido uses the body-parser that `express.json()` uses.
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

/** Installs a body-parser that records its owner when `json()` is called, and an iconv-lite beside it. */
function installBodyParser(folder, owner) {
  write(join('node_modules', folder, 'body-parser', 'index.js'), `exports.json = () => read.push('${owner}')`)
  write(join('node_modules', folder, 'iconv-lite', 'index.js'), '')
}

beforeEach(() => {
  for (const name of ['express', 'body-parser', 'iconv-lite']) {
    rmSync(join(modules, name), { recursive: true, force: true })
  }
})

test("the body-parser of Express is used before the program's own body-parser", async () => {
  write('node_modules/express/index.js', '')
  installBodyParser('express/node_modules', 'of Express')
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('both.cjs', program)), ['of Express'])
})

test('the body-parser that Express shares with the program is used', async () => {
  write('node_modules/express/index.js', '')
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('shared.cjs', program)), ['own'])
})

test("the program's own body-parser is used without Express", async () => {
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('own.cjs', program)), ['own'])
})

test("the program's own body-parser is used when Express has no body-parser", async () => {
  write('node_modules/express/index.js', '')
  const missing = `try { ${program} } catch (error) { console.log(JSON.stringify(error.message)) }`
  assert.match(answer(await run('none.cjs', missing)), /Run: npm install body-parser$/)
  installBodyParser('.', 'own')
  assert.deepEqual(answer(await run('left.cjs', program)), ['own'])
})

test('a reader resolves to undefined where body-parser 1 sets an empty object as body', async () => {
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
