// A handler name selects only an export of the handler's module.
import assert from 'node:assert/strict'
import { InvalidTaskError, WorkerStartError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const inherited = [
  'constructor',
  '__proto__',
  'toString',
  'toLocaleString',
  'hasOwnProperty',
  'valueOf',
  'isPrototypeOf',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  'call',
  'apply',
  'bind',
  'then',
]

for (const file of ['echo.js', 'function.cjs', 'names.cjs', 'promised.cjs', 'transpiled.cjs']) {
  test(`a call with the name of an inherited property rejects and keeps the worker (${file})`, async open => {
    const pool = open({
      filename: handler(file),
      name: file === 'names.cjs' ? 'default' : undefined,
      maxWorkers: 1,
    })
    const before = await pool.run('x')
    const [worker] = pool.workers
    for (const name of inherited) {
      const error = await rejection(pool.run('return process', { name }))
      assert.ok(error instanceof WorkerStartError, `${name}: ${error}`)
      assert.equal(error.code, 'ERR_LIDO_WORKER_START')
      assert.equal(error.stage, 'handler')
      assert.equal(error.handlerName, name)
    }
    assert.equal(await pool.run('x'), before)
    assert.deepEqual(pool.workers, [worker])
  })
}

test('the error for a missing handler holds its name and its file', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  const error = await rejection(pool.run(1, { name: 'thrice' }))
  assert.ok(error instanceof WorkerStartError)
  assert.match(error.message, /'thrice'.*echo\.js/)
})

test('a call rejects when its handler name is no exported function', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  for (const name of ['number', 'length', 'prototype', 'caller', 'arguments', 'name']) {
    await assert.rejects(pool.run(1, { name }), WorkerStartError, name)
  }
})

test('a pool with a missing handler rejects its calls, except calls that name another handler', async open => {
  const pool = open({ filename: handler('echo.js'), name: 'nothing', minWorkers: 1, maxWorkers: 1 })
  for (let call = 0; call < 20; call++) await assert.rejects(pool.run(call), WorkerStartError)
  assert.equal(await pool.run(21, { name: 'twice' }), 42)
  assert.equal(pool.workers[0].id, 1)
})

test('run() refuses an empty name and a name that is no string', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  for (const name of ['', 42, {}, Symbol('name'), ['default']]) {
    await assert.rejects(pool.run(1, { name }), InvalidTaskError)
  }
  assert.equal(pool.stats().tasks.accepted, 0)
})
