// close() lets finish what was accepted; destroy() ends it; both come to an end.
import assert from 'node:assert/strict'
import { Pool, PoolClosedError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Queued } from '../helpers/queued.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

/** Whether a promise is settled, once everything that can happen in this turn has happened. */
async function isPending(promise) {
  const pending = Symbol('pending')
  const turn = new Promise(resolve => setImmediate(() => resolve(pending)))
  return (await Promise.race([promise, turn])) === pending
}

test('close() waits for the tasks of two busy workers', async open => {
  for (const first of [0, 1]) {
    const track = new Track(2)
    const pool = open({ filename, minThreads: 2, maxThreads: 2 })
    const answers = [0, 1].map(index => pool.run(track.task(index)))
    await track.starts(2)
    const closed = pool.close()
    track.release(first)
    assert.equal(await answers[first], first)
    assert.equal(await isPending(closed), true)
    track.releaseAll()
    assert.equal(await answers[1 - first], 1 - first)
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.equal(pool.threads.length, 0)
    assert.equal(pool.stats().state, 'closed')
  }
})

test('close() runs waiting tasks, also with signals and on a pool without workers', async open => {
  for (const minThreads of [0, 2]) {
    const pool = open({ filename: handler('echo.js'), name: 'later', minThreads, maxThreads: 2 })
    const { signal } = new AbortController()
    const answers = Array.from({ length: 40 }, (_, index) =>
      pool.run(index, index % 2 ? { signal } : undefined),
    )
    const closed = pool.close()
    assert.deepEqual(
      await Promise.all(answers),
      answers.map((_, index) => index),
    )
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
  }
})

test('a task that is cancelled while the pool closes does not count as cut off', async open => {
  const track = new Track(1)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const controller = new AbortController()
  const answers = [0, 0].map(index => pool.run(track.task(index), { signal: controller.signal }))
  await track.startAt(0)
  const closed = pool.close()
  controller.abort()
  for (const error of await rejections(answers)) assert.equal(error.name, 'AbortError')
  assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
})

test('run() rejects at once while the pool closes', async open => {
  const track = new Track(2)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  const closed = pool.close()
  const error = await rejection(pool.run(track.task(0)))
  assert.ok(error instanceof PoolClosedError)
  assert.equal(error.code, 'ERR_LIDO_POOL_CLOSED')
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers), [0, 1])
  await closed
  await assert.rejects(pool.run(1), PoolClosedError)
})

test('close() replaces a worker that dies while tasks wait', async open => {
  const track = new Track(3)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  const closed = pool.close()
  track.release(1)
  track.release(2)
  await pool.threads[0].terminate()
  assert.equal((await rejection(answers[0])).code, 'ERR_LIDO_WORKER_EXIT')
  assert.deepEqual(await Promise.all(answers.slice(1)), [1, 2])
  await closed
})

test('closeTimeout cuts off running and waiting tasks, and counts them', async open => {
  const track = new Track(3)
  const pool = open({ filename, name: 'endless', minThreads: 2, maxThreads: 2, closeTimeout: 50 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await track.starts(2)
  const report = pool.close()
  for (const error of await rejections(answers)) {
    assert.ok(error instanceof PoolClosedError)
    assert.equal(error.reason, 'timeout')
    assert.match(error.message, /closeTimeout/)
  }
  assert.deepEqual(await report, { cutOff: 3, timedOut: true })
  assert.equal(pool.threads.length, 0)
})

test('close({ force: true }) rejects waiting tasks and lets running ones finish', async open => {
  const track = new Track(3)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  const closed = pool.close({ force: true })
  for (const error of await rejections(answers.slice(1))) {
    assert.ok(error instanceof PoolClosedError)
    assert.equal(error.reason, 'forced')
  }
  track.releaseAll()
  assert.equal(await answers[0], 0)
  assert.deepEqual(await closed, { cutOff: 2, timedOut: false })
})

test('destroy() keeps an answer that a worker has given before it', async open => {
  const queued = new Queued(2)
  const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1 })
  const answered = pool.run({ index: 0 }, { name: 'gated' })
  const endless = rejection(pool.run({ index: 1 }, { name: 'endless' }))
  await queued.starts(1)
  const closed = pool.close()
  queued.openGate()
  // Nothing is taken in meanwhile; who begins the second has answered the first.
  Atomics.wait(queued.words, 0, 1)
  await pool.destroy()
  assert.equal(await answered, 0)
  assert.equal((await endless).reason, 'destroyed')
  assert.deepEqual(await closed, { cutOff: 1, timedOut: false })
})

test('destroy() rejects every task at once and ends its threads, also in endless loops', async open => {
  const track = new Track(6)
  const pool = open({ filename, name: 'endless', minThreads: 2, maxThreads: 2 })
  const answers = Array.from({ length: 6 }, (_, index) => pool.run(track.task(index)))
  await track.starts(2)
  const ended = pool.threads.map(thread => new Promise(resolve => thread.once('exit', resolve)))
  const destroyed = pool.destroy()
  for (const error of await rejections(answers)) {
    assert.ok(error instanceof PoolClosedError)
    assert.equal(error.reason, 'destroyed')
  }
  await destroyed
  await Promise.all(ended)
  assert.equal(track.started, 2)
})

test('destroy() ends a close() that is under way', async open => {
  const track = new Track(2)
  const pool = open({ filename, name: 'endless', minThreads: 1, maxThreads: 1 })
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  const closed = pool.close()
  const [, errors] = await Promise.all([pool.destroy(), rejections(answers)])
  assert.deepEqual(await closed, { cutOff: 2, timedOut: false })
  for (const error of errors) assert.ok(error instanceof PoolClosedError)
})

test('close() and destroy() can be called again and together', async open => {
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 2 })
  const answer = pool.run('x')
  const reports = await Promise.all([pool.close(), pool.close(), pool.close({ force: true })])
  assert.equal(await answer, 'x')
  assert.deepEqual(reports, [
    { cutOff: 0, timedOut: false },
    { cutOff: 0, timedOut: false },
    { cutOff: 0, timedOut: false },
  ])
  await Promise.all([pool.destroy(), pool.destroy(), pool.close(), pool.destroy()])
  await pool.destroy()
})

test('a pool without tasks closes, with and without workers', async open => {
  for (const minThreads of [0, 1, 3]) {
    await open({ filename: handler('echo.js'), minThreads, maxThreads: 3 }).close()
    await open({ filename: handler('echo.js'), minThreads, maxThreads: 3 }).destroy()
    await open({ minThreads, maxThreads: 3 }).close()
  }
})

test('a pool can be destroyed at any moment of its start', async open => {
  for (let turns = 0; turns < 30; turns++) {
    const pool = open({ filename: handler('echo.js'), minThreads: 2, maxThreads: 2 })
    const outcome = Promise.allSettled([pool.run(turns)])
    for (let turn = 0; turn < turns; turn++) await new Promise(resolve => setImmediate(resolve))
    await pool.destroy()
    const [{ value, reason }] = await outcome
    assert.ok(value === turns || reason instanceof PoolClosedError)
  }
})

test('a pool whose worker never finishes loading can be destroyed', async open => {
  const loading = sharedWords(2)
  const pool = open({
    filename: handler('spins-at-load.js'),
    minThreads: 1,
    maxThreads: 1,
    workerData: loading,
  })
  const answer = pool.run(1)
  await reached(loading, 0)
  const destroyed = pool.destroy()
  assert.ok((await rejection(answer)) instanceof PoolClosedError)
  await destroyed
  assert.equal(pool.threads.length, 0)
  set(loading, 1)
})

test('a pool whose file does not load closes, with and without tasks', async (open, t) => {
  const file = openFolder(t).write('broken.mjs', 'throw new Error("broken")')
  for (const end of ['close', 'destroy']) {
    const pool = open({ filename: file, minThreads: 2, maxThreads: 2 })
    const answers = [1, 2, 3].map(payload => pool.run(payload))
    const ended = pool[end]()
    await rejections(answers)
    await ended
    assert.equal(pool.threads.length, 0)
    const idle = open({ filename: file, minThreads: 2, maxThreads: 2 })
    await idle[end]()
    assert.equal(idle.threads.length, 0)
  }
})

test('Symbol.asyncDispose closes the pool', async () => {
  const pool = new Pool({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
  const answer = pool.run('x')
  await pool[Symbol.asyncDispose]()
  assert.equal(await answer, 'x')
  assert.equal(pool.stats().state, 'closed')
})

test('closeTimeout: 0 cuts off running and waiting tasks at once', async open => {
  const track = new Track(2)
  const pool = open({ filename, minThreads: 1, maxThreads: 1, closeTimeout: 0 })
  const errors = rejections([0, 1].map(index => pool.run(track.task(index))))
  await track.startAt(0)
  assert.deepEqual(await pool.close(), { cutOff: 2, timedOut: true })
  for (const error of await errors) assert.equal(error.reason, 'timeout')
})

test('a listener of any event may close or destroy the pool', async open => {
  for (const event of ['workerCreate', 'workerDestroy', 'drain', 'needsDrain', 'close']) {
    for (const end of ['close', 'destroy']) {
      const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1, maxQueue: 1 })
      const ended = []
      pool.on(event, () => ended.push(pool[end]()))
      await Promise.allSettled([0, 1, 2].map(index => pool.run(index)))
      await pool.destroy()
      await Promise.all(ended)
      assert.equal(pool.stats().state, 'closed')
      assert.equal(pool.threads.length, 0)
    }
  }
})

test('run() and room() reject after the end of the pool', async open => {
  for (const end of ['close', 'destroy']) {
    const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
    const ended = pool[end]()
    for (const moment of [null, ended]) {
      await moment
      for (const call of [pool.run(1), pool.room()]) assert.equal((await rejection(call)).reason, 'closed')
    }
  }
})
