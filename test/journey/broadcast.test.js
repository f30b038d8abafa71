// pool.broadcast() runs a handler once on every worker, and with `alsoNew` on workers that start later.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  InvalidTaskError,
  move,
  NotCloneableError,
  PoolClosedError,
  TaskCancelledError,
  TaskTimeoutError,
  WorkerExitError,
  WorkerStartError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { sharedWords } from '../helpers/shared-words.js'

const filename = handler('broadcasting.js')
const turn = () => new Promise(setImmediate)

/** Resolves when the handler runs. */
async function start(pool, payload, options) {
  let result
  await new Promise(onProgress => {
    result = pool.run(payload, { ...options, onProgress })
    result.catch(() => {})
  })
  return { result }
}

for (const [title, options] of Object.entries(backends)) {
  const isInline = options.backend === 'inline'

  test(`broadcast() runs once on each worker, also while it starts, before the first task on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
    const results = pool.broadcast('a', { name: 'remember' })
    const first = pool.run()
    assert.deepEqual(await results, ['a', 'a'])
    assert.match(await first, isInline ? /a/ : /^a$/)
    assert.deepEqual(await pool.broadcast('b', { name: 'remember' }), ['b', 'b'])
    assert.equal(await pool.run(), isInline ? 'a a b b' : 'a b')
    const { tasks } = pool.stats()
    assert.equal(tasks.fulfilled, 6)
    assert.equal(tasks.waiting + tasks.inFlight, 0)
  })

  test(`a busy worker runs the broadcast after its task and before queued tasks on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
    await pool.ready()
    const order = []
    const note = (name, promise) => promise.then(() => order.push(name))
    const { result } = await start(pool, 20, { name: 'pause' })
    await Promise.all([
      note('running', result),
      note('broadcast', pool.broadcast('a', { name: 'remember' })),
      note('queued', pool.run()),
    ])
    assert.deepEqual(order, ['running', 'broadcast', 'queued'])
  })

  test(`alsoNew runs on later workers before their first task, until it is replaced or revoked on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1, ...options })
    const revoke = new AbortController()
    const signal = revoke.signal
    assert.deepEqual(await pool.broadcast('old', { name: 'remember', alsoNew: true }), [])
    assert.deepEqual(await pool.broadcast('new', { name: 'remember', alsoNew: true, signal }), [])
    const other = { name: 'rememberUnlessCancelled', alsoNew: true }
    assert.deepEqual(await pool.broadcast('other', other), [])
    assert.match(await pool.run(), isInline ? /new other$/ : /^new other$/)
    assert.deepEqual(await pool.broadcast('newest', other), ['newest'])
    revoke.abort()
    await pool.reload()
    assert.match(await pool.run(), isInline ? /newest$/ : /^(newest)?$/)
    pool.resize({ minWorkers: 1 })
    await pool.ready()
    const seen = await pool.run()
    if (!isInline) assert.equal(seen, 'newest')
  })

  test(`a worker that starts during the call runs alsoNew once on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
    assert.deepEqual(await pool.broadcast('once', { name: 'remember', alsoNew: true }), ['once'])
    assert.match(await pool.run(), isInline ? /newest once$/ : /^once$/)
    await pool.recycle()
    assert.match(await pool.run(), isInline ? /newest once once$/ : /^once$/)
  })

  test(`an alsoNew that fails is a failed start with the error of the handler on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1, ...options })
    await pool.broadcast(1, { name: 'fail', alsoNew: true })
    const error = await rejection(pool.run())
    assert.ok(error instanceof WorkerStartError)
    assert.equal(error.handlerName, 'fail')
    assert.ok(error.cause instanceof RangeError)
    const missing = open({ filename, minWorkers: 0, maxWorkers: 1, ...options })
    await missing.broadcast(1, { name: 'absent', alsoNew: true })
    assert.equal((await rejection(missing.run())).stage, 'handler')
  })

  test(`an alsoNew that exceeds setupTimeout is a failed start on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1, setupTimeout: 20, ...options })
    await pool.broadcast(1, { name: 'forever', alsoNew: true })
    const error = await rejection(pool.run())
    assert.ok(error instanceof WorkerStartError)
    assert.match(error.message, /broadcast of 'forever' did not finish within 20 ms/)
  })

  test(`an error, a signal and a time limit reject the broadcast once on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
    const failed = await rejection(pool.broadcast(1, { name: 'fail' }))
    assert.equal(failed.message, 'refused 1')
    assert.ok(
      (await rejection(pool.broadcast(1, { name: 'forever', timeout: 20 }))) instanceof TaskTimeoutError,
    )
    await pool.ready()
    const controller = new AbortController()
    const cancelled = rejection(pool.broadcast(1, { name: 'forever', signal: controller.signal }))
    await turn()
    controller.abort()
    assert.ok((await cancelled) instanceof TaskCancelledError)
    assert.ok(
      (await rejection(pool.broadcast(1, { signal: controller.signal }))) instanceof TaskCancelledError,
    )
    // On the host thread, handlers that never end keep their places.
    if (!isInline) assert.equal(typeof (await pool.run()), 'string')
  })

  test(`close() waits for broadcasts, and refuses later ones, on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
    const results = pool.broadcast('a', { name: 'remember' })
    const closed = pool.close()
    assert.deepEqual(await results, ['a', 'a'])
    assert.equal((await closed).cutOff, 0)
    assert.ok((await rejection(pool.broadcast('a', { name: 'remember' }))) instanceof PoolClosedError)
  })

  test(`destroy() rejects broadcasts on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
    const results = rejection(pool.broadcast(1, { name: 'forever' }))
    await pool.destroy()
    assert.ok((await results) instanceof PoolClosedError)
  })

  test(`a payload that cannot be copied keeps nothing on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1, ...options })
    const call = pool.broadcast({ inner: () => {} }, { name: 'remember', alsoNew: true })
    const error = await rejection(call)
    assert.ok(error instanceof NotCloneableError)
    assert.equal(error.path, 'payload.inner')
    assert.equal(await pool.run(), isInline ? await pool.run() : '')
  })

  if (!isInline) {
    test(`a worker that dies in the call rejects the broadcast on ${title}`, async open => {
      const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
      const error = await rejection(pool.broadcast(1, { name: 'exit' }))
      assert.ok(error instanceof WorkerExitError)
      assert.equal(error.exitCode, 3)
    })

    test(`a worker that ends before it starts the call has no result on ${title}`, async open => {
      const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
      await pool.ready()
      const controller = new AbortController()
      const { result } = await start(pool, 1, { name: 'forever', signal: controller.signal })
      const running = rejection(result)
      const results = pool.broadcast('a', { name: 'remember' })
      controller.abort()
      assert.ok((await running) instanceof TaskCancelledError)
      assert.deepEqual(await results, [])
    })
  }

  test(`a worker that leaves still runs the broadcast on ${title}`, async (open, t) => {
    const folder = openFolder(t)
    folder.write('notes', '')
    const file = join(folder.path, 'notes')
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
    await pool.ready()
    const { result: running } = await start(pool, 50, { name: 'pause' })
    const results = pool.broadcast({ file, text: 'ran' }, { name: 'note' })
    await pool.recycle()
    assert.deepEqual(await results, [undefined])
    await running
    assert.equal(readFileSync(file, 'utf8'), 'ran\n')
  })
}

test('a waiting broadcast starts no worker and leaves room for a task', async open => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, maxQueue: 0 })
  await pool.ready()
  const words = sharedWords(2)
  const blocked = pool.run(words, { name: 'block' })
  while (Atomics.load(words, 0) === 0) await turn()
  const results = pool.broadcast('a', { name: 'remember' })
  while (pool.stats().tasks.fulfilled < 1) await turn()
  assert.equal(pool.stats().tasks.waiting, 1)
  await pool.room()
  assert.equal(await pool.run(), 'a')
  Atomics.store(words, 1, 1)
  Atomics.notify(words, 1)
  assert.deepEqual(await results, ['a', 'a'])
  assert.equal(await blocked, 'unblocked')
})

test('options that do not apply are refused with the reason', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  for (const option of ['retry', 'queueTimeout', 'transferList', 'exclusive', 'priority', 'onProgress']) {
    const error = await rejection(pool.broadcast(1, { name: 'remember', [option]: 1 }))
    assert.ok(error instanceof InvalidTaskError)
    assert.match(error.message, new RegExp(`Unknown option '${option}'.*broadcast`))
  }
  assert.match((await rejection(pool.broadcast(move(new Uint8Array(1))))).message, /without move\(\)/)
})
