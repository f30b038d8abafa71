// The option `module`: a function that imports the handlers' module. An inline pool also runs the functions of a loaded module.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { InvalidOptionError, isPoolError, WorkerStartError } from 'lido'
import { context } from 'lido/worker'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

const inline = module => ({ backend: 'inline', module })

test('a pool runs the functions of its module, by name and by api', async open => {
  const calls = []
  const pool = open(
    inline({ default: text => `a ${text}`, add: (a, b) => calls.push([a, b]), Later: async n => n * 2 }),
  )
  assert.equal(await pool.run('b'), 'a b')
  assert.equal(await pool.run(4, { name: 'Later' }), 8)
  assert.equal(await pool.api.add(1, 2), 1)
  assert.deepEqual(calls, [[1, 2]])
  assert.deepEqual(await pool.map(['c']).toArray(), ['a c'])
  assert.deepEqual(await pool.broadcast('d'), Array(pool.workers.length).fill('a d'))
})

test('an imported module keeps its state', async open => {
  const module = await import(handler('echo.js'))
  const pool = open(inline(module))
  assert.equal(await pool.run(21, { name: 'twice' }), 42)
})

test('a CommonJS module may be a function', async open => {
  const pool = open(inline(Object.assign(n => n + 1, { twice: n => n * 2 })))
  assert.deepEqual(await Promise.all([pool.run(1), pool.run(4, { name: 'twice' })]), [2, 8])
})

test('payloads and results are copied', async open => {
  let given
  const result = { text: 'result' }
  const pool = open(
    inline({
      default(payload) {
        given = payload
        return result
      },
    }),
  )
  const payload = { text: 'payload' }
  const received = await pool.run(payload)
  assert.deepEqual([given, received], [payload, result])
  assert.notEqual(given, payload)
  assert.notEqual(received, result)
})

test('a handler that waits reads its context and can be cancelled', async open => {
  const controller = new AbortController()
  let onStopped
  const stopped = new Promise(resolve => {
    onStopped = resolve
  })
  const pool = open(
    inline({
      async default() {
        const aborted = new Promise(resolve => context.signal.addEventListener('abort', resolve))
        controller.abort()
        await aborted
        onStopped(context.cancelled)
      },
    }),
  )
  await assert.rejects(pool.run(null, { signal: controller.signal }), { code: 'ERR_LIDO_TASK_CANCELLED' })
  assert.equal(await stopped, true)
})

test('two pools call the setup and the teardown of their own modules', async open => {
  const calls = []
  const moduleOf = name => ({
    default: () => name,
    setup: () => calls.push(`setup ${name}`),
    teardown: () => calls.push(`teardown ${name}`),
  })
  const one = open(inline(moduleOf('one')))
  const two = open(inline(moduleOf('two')))
  assert.deepEqual(await Promise.all([one.run(), two.run()]), ['one', 'two'])
  await Promise.all([one.close(), two.close()])
  assert.deepEqual(calls.sort(), ['setup one', 'setup two', 'teardown one', 'teardown two'])
})

test('the error of a handler arrives unchanged', async open => {
  const pool = open(
    inline({
      default() {
        throw new RangeError('too much')
      },
    }),
  )
  await assert.rejects(pool.run(), { name: 'RangeError', message: 'too much' })
})

test('the error for a missing function names the option', async open => {
  const pool = open(inline({}))
  const error = await pool.run().catch(problem => problem)
  assert.ok(error instanceof WorkerStartError && isPoolError(error))
  assert.match(error.message, /^No function named 'default' is exported from the option 'module'\./)
})

test('a call may name its own file', async open => {
  const pool = open(inline({ default: () => 'own' }))
  assert.equal(await pool.run('file', { filename: handler('echo.js') }), 'file')
})

for (const [title, options] of Object.entries(backends)) {
  test(`a pool runs the functions of the module that its function imports (${title})`, async open => {
    for (const base of [{}, { base: import.meta.url }, { base: fileURLToPath(import.meta.url) }]) {
      const pool = open({
        module: () => import('../fixtures/handlers/echo.js'),
        ...base,
        maxWorkers: 1,
        ...options,
      })
      assert.equal(await pool.run('own'), 'own')
      assert.equal(await pool.api.twice(21), 42)
      const { filename, backend } = pool.options
      assert.equal(filename, backend === 'inline' ? undefined : fileURLToPath(handler('echo.js')))
      const same = open({ ...pool.options, queue: undefined })
      assert.equal(await same.run('same'), 'same')
    }
  })
}

test('only an inline pool calls the function that imports its module', async open => {
  let calls = 0
  const module = () => {
    calls++
    return import('../fixtures/handlers/echo.js')
  }
  assert.equal(await open({ module }).run(1), 1)
  assert.equal(calls, 0)
  const pool = open({ ...inline(module), minWorkers: 2, maxWorkers: 2 })
  assert.deepEqual(await Promise.all([pool.run(1), pool.run(2, { name: 'twice' })]), [1, 4])
  assert.equal(calls, 1)
})

test('a relative filename starts at base', async open => {
  assert.equal(await open({ filename: '../fixtures/handlers/echo.js', base: import.meta.url }).run(1), 1)
})

test('an inline pool imports its module again after the import failed', async open => {
  let calls = 0
  const pool = open(
    inline(async () => {
      if (++calls === 1) throw new SyntaxError('not yet')
      return { default: n => n + 1 }
    }),
  )
  await assert.rejects(pool.run(1), WorkerStartError)
  assert.equal(await pool.run(1), 2)
})

test('a module is refused with another backend, beside a filename, and as a promise', open => {
  const module = { default() {} }
  for (const [options, message] of [
    [
      { module },
      /'module' must be a function with backend 'thread'.*module: \(\) => import.* backend: 'inline'/,
    ],
    [{ module, backend: 'process' }, /must be a function with backend 'process'/],
    [
      { ...inline(module), filename: handler('echo.js') },
      /'module' and 'filename' both name the handlers\. Leave/,
    ],
    [
      inline(Promise.resolve(module)),
      /as in module: \(\) => import\('\.\/work\.js'\); got an instance of Promise/,
    ],
  ])
    assert.throws(
      () => open(options),
      error =>
        error instanceof InvalidOptionError && error.option === 'module' && message.test(error.message),
    )
})
