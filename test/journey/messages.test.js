// Errors that name the cure.
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { InvalidTaskError, Pool, QueueFullError } from 'lido'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('functions.js')

for (const [title, options] of Object.entries(backends)) {
  test(`a missing export lists the exports and the nearest name, on ${title}`, async open => {
    for (const name of [undefined, 'default']) {
      const pool = open({ filename, name, maxWorkers: 1, ...options })
      const error = await rejection(pool.run(1, { name: 'listArgument' }))
      assert.match(error.message, /It exports .*add.*Did you mean 'listArguments'\?/)
      assert.match((await rejection(pool.api.nothingAlike())).message, /set 'name' to one of these/)
      assert.equal(error.cause, undefined)
    }
  })

  test(`a syntax error names its line and column, on ${title}`, async (open, t) => {
    const folder = openFolder(t)
    for (const [name, start] of Object.entries({ 'a.mjs': 'export default', 'a.cjs': 'module.exports =' })) {
      const file = folder.write(name, `// first line\n${start} () => 1 +* 2\n`)
      const error = await rejection(open({ filename: file, maxWorkers: 1, ...options }).run(1))
      assert.match(error.message, new RegExp(`${name}:2:\\d+`), name)
    }
  })
}

test('run() with two arguments names pool.api, and shows no text of the caller', async open => {
  const pool = open({ filename, name: 'add', maxWorkers: 1 })
  const error = await rejection(pool.run(1, 2))
  assert.ok(error instanceof InvalidTaskError)
  assert.match(error.message, /use pool\.api\.add\(1, 2\)/)
  const hidden = await rejection(pool.run('password', 'secret'))
  assert.match(hidden.message, /pool\.api\.add\(…, …\)/)
  assert.doesNotMatch(hidden.message, /password|secret/)
  assert.throws(
    () => new Pool({ filename, tokn: 'secret' }),
    error => /Unknown option 'tokn'/.test(error.message) && !/secret/.test(error.message),
  )
  assert.match(new QueueFullError(3).message, /503.*room\(\)/)
})

test('an operation that threads do not have names processes, and works there', async (open, t) => {
  const file = openFolder(t).write('h.mjs', `export default () => (process.chdir('/'), 'done')`)
  const error = await rejection(open({ filename: file, maxWorkers: 1 }).run())
  assert.match(error.message, /Use backend: 'process'/)
  assert.equal(await open({ filename: file, maxWorkers: 1, backend: 'process' }).run(), 'done')
})

test('a process that a rethrowing listener ended rejects its task with the exception', async (open, t) => {
  const file = openFolder(t).write(
    'h.mjs',
    `process.on('uncaughtException', error => { throw error })
     export default () => new Promise(() => setImmediate(() => { throw new RangeError('the reason') }))`,
  )
  const pool = open({ filename: file, maxWorkers: 1, backend: 'process' })
  pool.on('error', () => {})
  assert.equal((await rejection(pool.run())).message, 'the reason')
})

test('a package name is resolved from the file that creates the pool', async (_, t) => {
  const folder = openFolder(t)
  const modules = join(folder.path, 'node_modules')
  mkdirSync(modules)
  symlinkSync(join(import.meta.dirname, '../..'), join(modules, 'lido'))
  for (const [name, exports] of Object.entries({
    '@acme/both': { './worker': './w.mjs' },
    '@acme/import': { './worker': { import: './w.mjs' } },
  })) {
    folder.write(`node_modules/${name}/package.json`, JSON.stringify({ name, exports }))
    folder.write(`node_modules/${name}/w.mjs`, `export default () => '${name}'`)
  }
  const main = folder.write(
    'main.mjs',
    `import { Pool } from 'lido'
     export async function ask(filename) {
       const pool = new (class Mine extends Pool {})({ filename, maxWorkers: 1 })
       try { return await pool.run() } finally { await pool.close() }
     }`,
  )
  const { ask } = await import(pathToFileURL(main).href)
  for (const name of ['@acme/both', '@acme/import']) assert.equal(await ask(`${name}/worker`), name)
  await assert.rejects(ask('@acme/missing/worker'), error => error.message.includes(main))
})

test('errors keep their names in a minified bundle', async (_, t) => {
  const folder = openFolder(t)
  const entry = folder.write(
    'main.mjs',
    `export { InvalidOptionError, QueueFullError, WorkerExitError } from ${JSON.stringify(import.meta.resolve('lido').replace('file://', ''))}`,
  )
  const outfile = join(folder.path, 'out.mjs')
  await build({ entryPoints: [entry], bundle: true, minify: true, platform: 'node', format: 'esm', outfile })
  const bundled = await import(pathToFileURL(outfile).href)
  assert.equal(new bundled.QueueFullError(1).name, 'QueueFullError')
  assert.equal(new bundled.InvalidOptionError('a', 'b').name, 'InvalidOptionError')
  assert.equal(new bundled.WorkerExitError(1, 1).name, 'WorkerExitError')
})
