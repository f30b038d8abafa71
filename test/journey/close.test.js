// close() lets accepted tasks finish. destroy() rejects them. Both always settle.
import assert from 'node:assert/strict'
import { Pool, PoolClosedError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Queued } from '../helpers/queued.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

/** Tells whether a promise is still pending after this turn of the event loop. */
async function _isPending(promise) {
  const pending = Symbol('pending')
  const turn = new Promise(resolve => setImmediate(() => resolve(pending)))
  return (await Promise.race([promise, turn])) === pending
}

test('cutOff does not count a task that is cancelled while the pool closes', async open => {
  const track = new Track(1)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const controller = new AbortController()
  const answers = [0, 0].map(index => pool.run(track.task(index), { signal: controller.signal }))
  await track.startAt(0)
  const closed = pool.close()
  controller.abort()
  for (const error of await rejections(answers)) assert.equal(error.name, 'AbortError')
  assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
})

test('closeTimeout rejects running and queued tasks, and close() counts them in cutOff', async open => {
  const track = new Track(3)
  const pool = open({ filename, name: 'endless', minWorkers: 2, maxWorkers: 2, closeTimeout: 50 })
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

test('close({ force: true }) rejects queued tasks and lets running tasks finish', async open => {
  const track = new Track(3)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
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

test('destroy() delivers a result that the worker sent before the call', async open => {
  const queued = new Queued(2)
  const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1 })
  const answered = pool.run({ index: 0 }, { name: 'gated' })
  const endless = rejection(pool.run({ index: 1 }, { name: 'endless' }))
  await queued.starts(1)
  const closed = pool.close()
  queued.openGate()
  // The host reads no result during this wait. The worker has answered the first task when it starts the second one.
  Atomics.wait(queued.words, 0, 1)
  await pool.destroy()
  assert.equal(await answered, 0)
  assert.equal((await endless).reason, 'destroyed')
  assert.deepEqual(await closed, { cutOff: 1, timedOut: false })
})

test('pool[Symbol.asyncDispose]() finishes accepted tasks and closes the pool', async () => {
  const pool = new Pool({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
  const answer = pool.run('x')
  await pool[Symbol.asyncDispose]()
  assert.equal(await answer, 'x')
  assert.equal(pool.stats().state, 'closed')
})

test('closeTimeout: 0 rejects running and queued tasks at once', async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, closeTimeout: 0 })
  const errors = rejections([0, 1].map(index => pool.run(track.task(index))))
  await track.startAt(0)
  assert.deepEqual(await pool.close(), { cutOff: 2, timedOut: true })
  for (const error of await errors) assert.equal(error.reason, 'timeout')
})

test('an event listener may close or destroy the pool', async open => {
  for (const event of ['workerCreate', 'workerDestroy', 'drain', 'needsDrain', 'close']) {
    for (const end of ['close', 'destroy']) {
      const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
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

test('run() and room() reject after close() or destroy() is called', async open => {
  for (const end of ['close', 'destroy']) {
    const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
    const ended = pool[end]()
    for (const moment of [null, ended]) {
      await moment
      for (const call of [pool.run(1), pool.room()]) assert.equal((await rejection(call)).reason, 'closed')
    }
  }
})
