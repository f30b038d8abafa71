// pool.call() refuses functions that are not complete in themselves, and shows them by a short name.
import assert from 'node:assert/strict'
import { FifoQueue, InvalidTaskError, PoolClosedError } from 'lido'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const limit = 3
// A tool adds these names. The functions that use them are not called.
const tools = Object.fromEntries(
  [
    'cov_1a2b',
    '__vi_import_0__',
    '__awaiter',
    '_asyncToGenerator',
    '__importStar',
    '__webpack_require__',
  ].map(name => [name, new Function(`return ${name}()`)]),
)
const recursive = n => (n < 1 ? 0 : recursive(n - 1))

const refused = [
  ['a bound function', (() => {}).bind(null), /bound or native function.*Write a function that calls it/],
  ['a native function', Math.max, /bound or native function/],
  ['a proxy', new Proxy(() => 1, {}), /bound or native function/],
  ['a method', { m() {} }.m, /is a method or an accessor\. Write it as a function/],
  [
    'a getter',
    Object.getOwnPropertyDescriptor(
      {
        get x() {
          return 1
        },
      },
      'x',
    ).get,
    /is a method or an accessor/,
  ],
  ['a class', class {}, /is a class\. Write a function that creates the object/],
  [
    'a variable',
    () => limit,
    /uses 'limit', which belongs to the code around it\. Pass 'limit' as an argument/,
  ],
  ['a variable in a shorthand', () => ({ limit }), /'limit'/],
  ['its own variable', recursive, /'recursive'.*Write function recursive\(\) \{ … \}/],
  ['this of an arrow function', () => this, /'this'.*Pass the values as arguments/],
  ['import.meta', () => import.meta.url, /'import\.meta'.*Pass the path or the URL/],
  ['a relative import', () => import('./x.js'), /'import\('\.\/x\.js'\)'.*Pass new URL/],
  ['require', () => require('node:fs'), /'require'.*process\.getBuiltinModule/],
  ['a counter of Istanbul', tools.cov_1a2b, /coverage tool Istanbul added it/],
  ['an import that Vitest changed', tools.__vi_import_0__, /Vitest made it.*Import in the function/],
  ['a helper of TypeScript', tools.__awaiter, /compiler added it.*Raise the target/],
  ['a helper of Babel', tools._asyncToGenerator, /compiler added it/],
  ['a helper of CommonJS output', tools.__importStar, /let it make ES modules/],
  ['a helper of webpack', tools.__webpack_require__, /await import\('node:fs'\)/],
  ['no function', 'text', /call\(\) must get a function.*got 'text'.*use pool\.api/],
  ['nothing', undefined, /call\(\) must get a function.*got undefined/],
]

test('a function that is not complete in itself is refused with the reason', async open => {
  const pool = open({ minWorkers: 0 })
  for (const [what, fn, message] of refused) {
    const error = await rejection(pool.call(fn))
    assert.ok(error instanceof InvalidTaskError, what)
    assert.equal(error.option, 'fn', what)
    assert.match(error.message, message, what)
    assert.match(error.stack, /functions-as-text\.test\.js/)
  }
  assert.equal(pool.stats().tasks.accepted, 0)
})

test('wrong options of call() are refused by their names', async open => {
  const pool = open({ minWorkers: 0 })
  for (const [options, option, message] of [
    [{ name: 'x' }, 'name', /use 'run\(\)'/],
    [{ filename: '/x.js' }, 'filename', /use 'run\(\)'/],
    [{ timeOut: 1 }, 'timeOut', /Did you mean 'timeout'/],
    [{ timeout: -1 }, 'timeout', /option 'timeout'/],
  ]) {
    const error = await rejection(pool.call(options, () => 1))
    assert.ok(error instanceof InvalidTaskError)
    assert.equal(error.option, option)
    assert.match(error.message, message)
  }
  assert.match((await rejection(pool.call({}, 5))).message, /got 5/)
  assert.equal(await pool.call(undefined, n => n, 5), 5)
})

test('call() rejects when the pool is closed', async open => {
  const pool = open({ minWorkers: 0 })
  await pool.close()
  assert.ok((await rejection(pool.call(() => 1))) instanceof PoolClosedError)
})

test('statistics show a function by its name, and functions of many names together', async open => {
  const pool = open({ maxWorkers: 1, recordTiming: true })
  const named = name => Object.defineProperty(() => 1, 'name', { value: name })
  await pool.call(named('resize'))
  for (let call = 0; call < 2; call++) {
    for (let n = 0; n < 300; n++) await pool.call(named(`name${n}`))
    await pool.call(named('a name\n'.repeat(100)))
  }
  const { handlers } = pool.stats()
  assert.ok(handlers.length > 0 && handlers.length <= 101, `${handlers.length} names`)
  for (const { filename, name } of handlers) {
    assert.equal(filename, 'the text of pool.call()')
    assert.match(name, /^(resize|name\d+|\(function\))$/)
  }
})

test('a queue of the program sees the arguments and then the text', async open => {
  const seen = []
  class Queue extends FifoQueue {
    push(task) {
      seen.push(task.payload)
      super.push(task)
    }
  }
  const pool = open({ minWorkers: 0, maxWorkers: 1, queue: new Queue() })
  const add = (a, b) => a + b
  assert.equal(await pool.call(add, 1, 2), 3)
  assert.deepEqual(seen, [[1, 2, String(add)]])
})

test('a program that forbids code from strings gets an error that says so', async () => {
  const program = `
    for (const backend of ['thread', 'process', 'inline']) {
      const pool = new Pool({ backend, maxWorkers: 1 })
      await pool.call(() => 1).catch(error => console.log(error.message))
      await pool.close()
    }
  `
  const nodeArguments = ['--disallow-code-generation-from-strings']
  const { output, errors } = await runProgram(program, { nodeArguments })
  const message =
    'The worker cannot make a function from its text: this program forbids code from strings. Export the function from a file, and call it with run().'
  assert.equal(output, `${message}\n`.repeat(3), errors)
})

test('the error of a text that strict mode forbids says why', async open => {
  const pool = open({ maxWorkers: 1 })
  const error = await rejection(pool.call(new Function('return 010')))
  assert.match(
    error.message,
    /cannot make a function from its text: SyntaxError: Octal.*Export the function from a file/,
  )
})
