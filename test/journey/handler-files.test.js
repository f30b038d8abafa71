// The files that can hold a handler, the forms of `filename`, and the values that are refused.
import assert from 'node:assert/strict'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { InvalidOptionError, InvalidTaskError, Pool, WorkerStartError } from 'lido'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const forms = [
  ['the default export of an ES module', 'echo.js', undefined, 'x', 'x'],
  ['a named export of an ES module', 'echo.js', 'twice', 21, 42],
  ['an async function', 'echo.js', 'later', 'x', 'x'],
  ['a default export that is a promise of a function', 'promised.js', undefined, 'x', 'promised x'],
  ['a named export that is a promise of a function', 'promised.js', 'named', 'x', 'promised by name x'],
  ['module.exports', 'function.cjs', undefined, 'x', 'cjs x'],
  ['exports.add', 'names.cjs', 'add', { a: 1, b: 2 }, 3],
  ['exports.default', 'names.cjs', undefined, 'x', 'cjs default x'],
  ['module.exports with properties', 'properties.cjs', undefined, 'x', 'outer x'],
  ['a property of module.exports', 'properties.cjs', 'inner', 'x', 'inner x'],
  ['module.exports that is a promise of a function', 'promised.cjs', undefined, 'x', 'cjs promised x'],
  ['the default export of a transpiled module', 'transpiled.cjs', undefined, 'x', 'transpiled x'],
  ['a named export of a transpiled module', 'transpiled.cjs', 'named', 'x', 'transpiled by name x'],
]

for (const [what, file, name, payload, expected] of forms) {
  test(`${what} can be the handler of a pool`, async open => {
    const pool = open({ filename: handler(file), name, maxWorkers: 1 })
    assert.deepEqual(await pool.run(payload), expected)
  })
}

test('a single worker runs every form of handler that calls name', async open => {
  const pool = open({ minWorkers: 1, maxWorkers: 1 })
  for (const [what, file, name, payload, expected] of forms) {
    assert.deepEqual(await pool.run(payload, { filename: handler(file), name }), expected, what)
  }
  assert.deepEqual(
    pool.workers.map(worker => worker.id),
    [1],
  )
})

test('filename accepts a path, a file: string and a URL, in the constructor and in run()', async open => {
  const url = handler('echo.js')
  for (const filename of [fileURLToPath(url), url.href, url]) {
    assert.equal(await open({ filename, maxWorkers: 1 }).run('x'), 'x')
    assert.equal(await open({ maxWorkers: 1 }).run('x', { filename }), 'x')
  }
})

test('filename may hold spaces, percent signs, question marks and hashes', async (open, t) => {
  const folder = openFolder(t)
  const filename = folder.write('a b%20c#d?/handler ü.mjs', 'export default value => value + 1')
  const pool = open({ filename, maxWorkers: 1 })
  assert.equal(await pool.run(1), 2)
  assert.equal(await pool.run(1, { filename: pathToFileURL(filename) }), 2)
})

test('the constructor resolves a package name from the working directory', async (_open, t) => {
  const folder = openFolder(t)
  const packages = {
    'plain-handler': [
      '{ "type": "module", "exports": "./index.js" }',
      'export default value => "plain " + value',
    ],
    '@scope/handler': ['{ "main": "index.js" }', 'module.exports = value => "scoped " + value'],
  }
  for (const [name, [manifest, source]] of Object.entries(packages)) {
    folder.write(`node_modules/${name}/package.json`, manifest)
    folder.write(`node_modules/${name}/index.js`, source)
  }
  const { output, errors } = await runProgram(`
    process.chdir(${JSON.stringify(folder.path)})
    for (const filename of ['plain-handler', '@scope/handler', 'plain-handler']) {
      const pool = new Pool({ filename, maxWorkers: 1 })
      console.log(await pool.run('x'))
      await pool.close()
    }
  `)
  assert.equal(output, 'plain x\nscoped x\nplain x\n', errors)
})

test('the constructor throws an error that names a missing package', () => {
  assert.throws(
    () => new Pool({ filename: 'there-is-no-such-package' }),
    error => error instanceof InvalidOptionError && /there-is-no-such-package/.test(error.message),
  )
})

test('a TypeScript file runs where Node strips types, and otherwise the error names the file', async open => {
  const pool = open({ filename: handler('typed.ts'), maxWorkers: 1 })
  if (process.features.typescript) return assert.equal(await pool.run('you'), 'hello you')
  const error = await rejection(pool.run('you'))
  assert.ok(error instanceof WorkerStartError)
  assert.match(error.message, /typed\.ts/)
  assert.equal(error.filename, fileURLToPath(handler('typed.ts')))
})

test('a require() hook for a file extension takes precedence over import()', async (open, t) => {
  const folder = openFolder(t)
  const hook = folder.write(
    'hook.cjs',
    `const { readFileSync } = require('node:fs')
     require.extensions['.ts'] = (module, path) => {
       const text = readFileSync(path, 'utf8')
       if (text.includes('await')) throw new SyntaxError('await in a script')
       module._compile(text.replace('enum Answer { yes = 42 }', 'const Answer = { yes: 42 }'), path)
     }`,
  )
  const script = folder.write('script.ts', 'enum Answer { yes = 42 }; module.exports = () => Answer.yes')
  const pool = open({ filename: script, execArgv: ['--require', hook], maxWorkers: 1 })
  assert.equal(await pool.run(null), 42)
  const typed = folder.write('typed.ts', 'await null; export default (x: number) => x')
  const isTyped = Boolean(process.features.typescript)
  if (isTyped) assert.equal(await pool.run(1, { filename: typed }), 1)
  else await assert.rejects(pool.run(1, { filename: typed }), /await in a script/)
  const thrower = folder.write(
    'thrower.ts',
    `globalThis.count = (globalThis.count ?? 0) + 1
     throw new Error('evaluated ' + globalThis.count)`,
  )
  await assert.rejects(pool.run(1, { filename: thrower }), /evaluated 1/)
  const counted = folder.write('counted.ts', 'module.exports = () => globalThis.count')
  assert.equal(await pool.run(1, { filename: counted }), 1)
})

test('the require() hooks of Node itself do not load TypeScript files', async (open, t) => {
  for (const name of ['loadTS', 'loadESMFromCJS']) {
    const hook = openFolder(t).write(
      'hook.cjs',
      `require.extensions['.ts'] = { ${name}() { throw new Error('asked') } }.${name}`,
    )
    const pool = open({ filename: handler('typed.ts'), execArgv: ['--require', hook], maxWorkers: 1 })
    if (process.features.typescript) assert.equal(await pool.run('you'), 'hello you')
    else await assert.rejects(pool.run('you'), /Unknown file extension/)
  }
})

for (const [name, options] of Object.entries(backends)) {
  test(`the TypeScript file replaces a missing JavaScript file where a loader runs it, on ${name}`, async (open, t) => {
    const folder = openFolder(t)
    // An inline worker has the loaders of this thread: none on Node 20.
    if (options.backend === 'inline' && !process.features.typescript) return t.skip('no loader')
    const execArgv = ['--import', import.meta.resolve('tsx')]
    folder.write('package.json', '{ "type": "module" }')
    folder.write('work.ts', "export default (text: string): string => text + ' in TypeScript'")
    const typed = open({ filename: `${folder.path}/work.js`, execArgv, maxWorkers: 1, ...options })
    assert.equal(await typed.run('work'), 'work in TypeScript')
    const both = folder.write('work.js', "export default text => text + ' in JavaScript'")
    const pool = open({ filename: both, execArgv, maxWorkers: 1, ...options })
    assert.equal(await pool.run('work.js'), 'work.js in JavaScript')
  })
}

const refused = [
  ['a relative path', './echo.js'],
  ['a path without a dot', 'fixtures/echo.js'],
  ['a builtin module', 'child_process'],
  ['a builtin module with node:', 'node:fs'],
  ['a part of a builtin module', 'fs/promises'],
  ['a data: URL', 'data:text/javascript,export default () => 1'],
  ['a data: URL object', new URL('data:text/javascript,export default () => 1')],
  ['an http: URL', new URL('http://localhost/handler.js')],
  ['a bare name', 'biome'],
  ['the name of a real package', 'typescript'],
  ['an empty string', ''],
  ['a number', 42],
]

for (const [what, filename] of refused) {
  test(`run() refuses ${what} as filename, with a hint`, async open => {
    const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
    const error = await rejection(pool.run(null, { filename }))
    assert.ok(error instanceof InvalidTaskError, String(error))
    assert.equal(error.option, 'filename')
    assert.match(error.message, /absolute path|'file:'|file/)
    assert.equal(pool.stats().tasks.accepted, 0)
    assert.equal(await pool.run('x'), 'x')
  })
}

test('the constructor refuses builtin modules and data: URLs as filename', () => {
  for (const filename of [
    'child_process',
    'node:fs',
    'fs/promises',
    'data:text/javascript,export default () => 1',
  ]) {
    assert.throws(() => new Pool({ filename }), InvalidOptionError, filename)
  }
})

test('run() without a file rejects with an error that names the option filename', async open => {
  const error = await rejection(open({ maxWorkers: 1 }).run(1))
  assert.ok(error instanceof InvalidTaskError)
  assert.match(error.message, /'filename'/)
})
