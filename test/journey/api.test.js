// pool.api calls the functions of the module with their own arguments, on every backend.
import assert from 'node:assert/strict'
import {
  InvalidTaskError,
  move,
  Pool,
  PoolClosedError,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
  WorkerStartError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('functions.js')

for (const [title, options] of Object.entries(backends)) {
  test(`a function gets all of its arguments on ${title}`, async open => {
    const { api } = open({ filename, maxWorkers: 1, ...options })
    assert.equal(await api.add(2, 3), 5)
    assert.deepEqual(await api.listArguments(), [])
    assert.deepEqual(await api.listArguments(undefined, null, [1], { a: 1 }), [
      undefined,
      null,
      [1],
      { a: 1 },
    ])
    assert.deepEqual(await api.default('one'), ['one'])
    assert.equal((await rejection(api.fail('with this text'))).message, 'with this text')
  })
}

test('run() and api call the same function in their own ways', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const calls = []
  for (let i = 0; i < 100; i++) {
    calls.push(pool.api.listArguments(i, i), pool.run([i, i], { name: 'listArguments' }))
  }
  for (const [index, result] of (await Promise.all(calls)).entries()) {
    const i = Math.floor(index / 2)
    assert.deepEqual(result, index % 2 === 0 ? [i, i] : [[i, i]])
  }
})

test('with() gives all its calls the same options', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const limited = pool.with({ timeout: 20 })
  assert.equal(await limited.api.add(1, 1), 2)
  assert.ok((await rejection(limited.api.never())) instanceof TaskTimeoutError)
  const aborted = pool.with({ signal: AbortSignal.abort() })
  assert.ok((await rejection(aborted.api.add(1, 1))) instanceof TaskCancelledError)
  const late = pool.with({ deadline: Date.now() - 1 })
  assert.ok((await rejection(late.api.add(1, 1))) instanceof TaskTimeoutError)
  for (const [options, option] of [
    [{ name: 'add' }, 'name'],
    [{ transferList: [] }, 'transferList'],
    [{ timeOut: 5 }, 'timeOut'],
    [5, 'options'],
  ]) {
    assert.throws(
      () => pool.with(options),
      error => error instanceof InvalidTaskError && error.option === option,
    )
  }
})

test('arguments marked by move() are transferred', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const [one, other] = [new Uint8Array(10), new Uint8Array(20)]
  assert.equal(await pool.api.lengths(move(one), 'text', move(other)), 30)
  assert.deepEqual([one.length, other.length], [0, 0])
})

test('api has no function that await, JSON or every object uses', async open => {
  const { api } = open({ filename, maxWorkers: 1 })
  assert.equal(api.then, undefined)
  assert.equal(api.toJSON, undefined)
  assert.equal(await api, api)
  assert.equal(JSON.stringify({ api }), '{"api":{}}')
  assert.equal(String(api), '[object Object]')
  assert.equal(api.add, api.add)
  assert.throws(() => {
    api.add = () => {}
  }, TypeError)
})

test('a call of api rejects as run() does, with the frame of its caller', async open => {
  const pool = open({ filename, maxWorkers: 1, maxQueue: 0 })
  assert.ok((await rejection(pool.api.addd(1, 2))) instanceof WorkerStartError)
  const running = rejection(pool.with({ timeout: 100 }).api.never())
  const full = await rejection(pool.api.add(1, 2))
  assert.ok(full instanceof QueueFullError)
  assert.match(full.stack.split('\n')[1], /api\.test\.js/)
  await running
  await pool.close()
  const closed = await rejection(pool.api.add(1, 2))
  assert.ok(closed instanceof PoolClosedError)
  assert.match(closed.stack.split('\n')[1], /api\.test\.js/)
  const fileless = new Pool({ maxWorkers: 1, minWorkers: 0 })
  const problem = await rejection(fileless.api.add(1, 2))
  assert.equal(problem.option, 'filename')
  await fileless.close()
})
