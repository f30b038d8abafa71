// What a pool does for handlers that live on another backend: as if it were one pool.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { Journal } from '../conformance/journal.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('conformant.js')
const options = { filename, minThreads: 1, maxThreads: 1, handlers: { twice: { backend: 'inline' } } }
const withProcess = {
  ...options,
  handlers: { fail: { backend: 'process' }, uncaughtOwn: { backend: 'process' } },
}

for (const name of ['recycle', 'reload']) {
  test(`${name}() replaces the workers of every backend`, async open => {
    const pool = open(options)
    assert.deepEqual(await Promise.all([pool.run(1), pool.run(1, { name: 'twice' })]), [1, 2])
    const old = pool.workers.map(({ id }) => id)
    await pool[name]()
    assert.deepEqual(pool.workers.map(({ backend }) => backend).sort(), ['inline', 'thread'])
    assert.ok(pool.workers.every(({ id }) => !old.includes(id)))
    assert.equal(await pool.run(2, { name: 'twice' }), 4)
  })
}

test('recycle() rejects when the pool closes meanwhile, whichever backend it waits for', async (open, t) => {
  const journal = new Journal(t)
  const pool = open({ ...options, handlers: { gated: { backend: 'inline' } } })
  await pool.run(1)
  const task = pool.run(journal.task('first'), { name: 'gated' })
  await journal.lines(1)
  const recycled = rejection(pool.recycle())
  const closed = pool.close()
  assert.equal((await recycled).code, 'ERR_LIDO_POOL_CLOSED')
  journal.open()
  assert.equal(await task, 'first')
  await closed
})

test('options are read when the pool is made, also those of a backend that is opened later', async open => {
  const given = { ...options }
  const pool = open(given)
  Object.assign(given, { filename: handler('echo.js'), maxThreads: 0 })
  assert.equal(await pool.run(2, { name: 'twice' }), 4)
})

test('a package is looked for when the pool is made, also for a backend that is opened later', async (_, t) => {
  const folder = openFolder(t)
  for (const place of ['here', 'there']) {
    folder.write(`${place}/node_modules/told/index.js`, `exports.own = exports.place = () => '${place}'`)
  }
  const { output, errors } = await runProgram(`
    process.chdir(${JSON.stringify(join(folder.path, 'here'))})
    const pool = new Pool({ filename: 'told', name: 'own', maxThreads: 1, handlers: { place: { backend: 'inline' } } })
    process.chdir(${JSON.stringify(join(folder.path, 'there'))})
    console.log(await pool.run(), await pool.run(null, { name: 'place' }))
    await pool.close()
  `)
  assert.equal(output, 'here here\n', errors)
})

test('closeOnSignals listens once for all backends', async open => {
  const before = process.listenerCount('SIGTERM')
  const pool = open({ ...options, closeOnSignals: ['SIGTERM'] })
  await pool.run(1, { name: 'twice' })
  assert.equal(process.listenerCount('SIGTERM'), before + 1)
  await pool.close()
  assert.equal(process.listenerCount('SIGTERM'), before)
})

test('errorClasses and callerStack hold on another backend', async open => {
  class OwnError extends TypeError {}
  const pool = open({ ...withProcess, errorClasses: [OwnError], callerStack: true })
  const error = await rejection(pool.run('own', { name: 'fail' }))
  assert.ok(error instanceof OwnError)
  assert.match(error.stack, /annexes\.test\.js/)
  assert.doesNotMatch(error.stack, /Pool\.run/)
})

test('close({ force: true }) rejects what waits on another backend, and lets finish what runs there', async (open, t) => {
  const journal = new Journal(t)
  const pool = open({ ...options, handlers: { gated: { backend: 'inline' } } })
  const runs = pool.run(journal.task('runs'), { name: 'gated' })
  const waits = rejection(pool.run(journal.task('waits'), { name: 'gated' }))
  await journal.lines(1)
  const closed = pool.close({ force: true })
  const { code, reason } = await waits
  assert.deepEqual([code, reason], ['ERR_LIDO_POOL_CLOSED', 'forced'])
  journal.open()
  assert.equal(await runs, 'runs')
  assert.deepEqual(await closed, { cutOff: 1, timedOut: false })
})

test('destroy() cuts off a teardown on another backend', async (open, t) => {
  const journal = new Journal(t)
  const pool = open({
    ...options,
    filename: handler('conformant-teardown.js'),
    handlers: { default: { backend: 'process' } },
    teardownTimeout: Number.POSITIVE_INFINITY,
  })
  await pool.run({ journal: journal.path, does: 'hang' })
  const closed = pool.close()
  await journal.lines(1)
  await pool.destroy()
  await closed
  assert.deepEqual(pool.workers, [])
})

test('a teardown that fails on another backend is an error of the pool', async (open, t) => {
  const journal = new Journal(t)
  const pool = open({
    ...options,
    filename: handler('conformant-teardown.js'),
    handlers: { default: { backend: 'process' } },
  })
  await pool.run({ journal: journal.path, does: 'throw' })
  const told = once(pool, 'error')
  await pool.close()
  assert.equal((await told)[0].code, 'ERR_LIDO_TEARDOWN')
})
