// close() and destroy() at bad moments: from inside, twice, while workers start, die or never load.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Pool, PoolClosedError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const echo = handler('echo.js')

function expectClosed(error, reason) {
  assert.ok(error instanceof PoolClosedError, String(error))
  assert.equal(error.reason, reason)
}

for (const lane of [true, false]) {
  test(`close() while the workers start runs what was accepted (lane: ${lane})`, async open => {
    for (let turns = 0; turns < 20; turns++) {
      const pool = open({ filename: echo, minThreads: 2, maxThreads: 2, lane })
      const answers = [0, 1, 2].map(index => pool.run(index))
      for (let turn = 0; turn < turns; turn++) await new Promise(resolve => setImmediate(resolve))
      const report = await pool.close()
      assert.deepEqual(await Promise.all(answers), [0, 1, 2])
      assert.deepEqual(report, { cutOff: 0, timedOut: false })
    }
  })

  test(`every worker dies while the pool closes: the close ends, each task settles once (lane: ${lane})`, async open => {
    const track = new Track(8)
    const pool = open({ filename: handler('tracked.js'), minThreads: 2, maxThreads: 2, lane })
    const answers = Array.from({ length: 8 }, (_, index) => pool.run(track.task(index)))
    const settled = Promise.allSettled(answers)
    await track.starts(2)
    const closed = pool.close()
    for (let index = 2; index < 8; index++) track.release(index)
    await Promise.all(pool.threads.map(thread => thread.terminate()))
    const outcomes = await settled
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 2)
    await closed
    assert.equal(pool.threads.length, 0)
  })

  test(`destroy() while the last worker is dying ends both (lane: ${lane})`, async open => {
    const track = new Track(3)
    const pool = open({ filename: handler('tracked.js'), minThreads: 1, maxThreads: 1, lane })
    const errors = rejections([0, 1, 2].map(index => pool.run(track.task(index))))
    await track.starts(1)
    const closed = pool.close()
    const died = pool.threads[0].terminate()
    await Promise.all([pool.destroy(), died, closed])
    for (const error of await errors) assert.ok(['closed', 'destroyed', undefined].includes(error.reason))
    assert.equal(pool.stats().tasks.waiting + pool.stats().tasks.inFlight, 0)
  })

  test(`the pool may be closed or destroyed in what follows an answer (lane: ${lane})`, async open => {
    for (const end of ['close', 'destroy']) {
      const track = new Track(2)
      const pool = open({ filename: handler('tracked.js'), minThreads: 1, maxThreads: 2, lane })
      track.release(0)
      const [outcome] = await pool.run(track.task(0)).then(async () => {
        const later = Promise.allSettled([pool.run(track.task(1))])
        const ended = pool[end]()
        // Not before: an answer that is there is taken in, however short the moment was.
        track.release(1)
        await ended
        return later
      })
      if (end === 'close') assert.deepEqual(outcome, { status: 'fulfilled', value: 1 })
      else expectClosed(outcome.reason, 'destroyed')
      assert.equal(pool.threads.length, 0)
    }
  })

  test(`close({ force: true }) lets the task that runs finish, however late (lane: ${lane})`, async open => {
    const track = new Track(2)
    const pool = open({ filename: handler('tracked.js'), minThreads: 1, maxThreads: 1, lane })
    const first = pool.run(track.task(0))
    const second = pool.run(track.task(1))
    await track.starts(1)
    const closed = pool.close({ force: true })
    expectClosed(await rejection(second), 'forced')
    track.release(0)
    assert.equal(await first, 0)
    assert.deepEqual(await closed, { cutOff: 1, timedOut: false })
  })

  test(`closeTimeout: 0 cuts off at once what runs and what waits (lane: ${lane})`, async open => {
    const track = new Track(2)
    const options = { filename: handler('tracked.js'), minThreads: 1, maxThreads: 1, closeTimeout: 0, lane }
    const pool = open(options)
    const errors = rejections([0, 1].map(index => pool.run(track.task(index))))
    await track.starts(1)
    assert.deepEqual(await pool.close(), { cutOff: 2, timedOut: true })
    for (const error of await errors) expectClosed(error, 'timeout')
  })
}

test('the pool may be closed from each of its events, by every listener', async open => {
  for (const event of ['workerCreate', 'workerDestroy', 'drain', 'needsDrain', 'close']) {
    for (const end of ['close', 'destroy']) {
      const pool = open({ filename: echo, minThreads: 1, maxThreads: 1, maxQueue: 1 })
      const ended = []
      pool.on(event, () => ended.push(pool[end]()))
      const calls = Promise.allSettled([0, 1, 2].map(index => pool.run(index)))
      await calls
      await pool.destroy()
      for (const outcome of await Promise.allSettled(ended)) assert.equal(outcome.status, 'fulfilled')
      assert.equal(pool.stats().state, 'closed')
      assert.equal(pool.threads.length, 0)
    }
  }
})

test('an error event may close the pool', async (open, t) => {
  const file = openFolder(t).write(
    'dies.mjs',
    'setImmediate(() => process.exit(3)); export default value => value',
  )
  const pool = open({ filename: file, minThreads: 1, maxThreads: 1 })
  await once(pool, 'error').catch(() => {})
  await pool.close()
  assert.equal(pool.threads.length, 0)
})

test('a pool whose file never finishes loading closes after closeTimeout, and its thread ends', async open => {
  const words = sharedWords(2)
  const pool = open({
    filename: handler('spins-at-load.js'),
    minThreads: 1,
    maxThreads: 1,
    workerData: words,
    closeTimeout: 50,
  })
  const answer = rejection(pool.run(1))
  await reached(words, 0)
  assert.deepEqual(await pool.close(), { cutOff: 1, timedOut: true })
  expectClosed(await answer, 'timeout')
  assert.equal(pool.threads.length, 0)
  set(words, 1)
})

test('a pool whose file fails to load while it closes is closed, and starts no more workers', async (open, t) => {
  const file = openFolder(t).write('broken.mjs', 'await null; throw new Error("broken")')
  const pool = open({ filename: file, minThreads: 2, maxThreads: 2 })
  let created = 0
  pool.on('workerCreate', () => created++)
  const errors = rejections([1, 2, 3].map(payload => pool.run(payload)))
  await pool.close()
  for (const error of await errors) assert.equal(error.code, 'ERR_LIDO_WORKER_START')
  const atClose = created
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(created, atClose)
  assert.equal(pool.threads.length, 0)
})

test('run(), room() and the other calls after the end say so, and throw nothing', async open => {
  for (const end of ['close', 'destroy']) {
    const pool = open({ filename: echo, minThreads: 1, maxThreads: 1 })
    const ended = pool[end]()
    for (const wait of [null, ended]) {
      await wait
      expectClosed(await rejection(pool.run(1)), 'closed')
      expectClosed(await rejection(pool.room()), 'closed')
    }
    assert.equal(pool.queueSize, 0)
    assert.equal(pool.stats().state, 'closed')
    assert.deepEqual(pool.workers, [])
  }
})

test('a pool that is disposed of at the end of a block has finished its tasks, also when the block throws', async () => {
  let answer
  let disposed
  const block = async () => {
    const pool = new Pool({ filename: echo, name: 'later', minThreads: 1, maxThreads: 1 })
    try {
      answer = pool.run('x')
      throw new Error('the block')
    } finally {
      disposed = pool
      await pool[Symbol.asyncDispose]()
    }
  }
  assert.equal((await rejection(block())).message, 'the block')
  assert.equal(await answer, 'x')
  assert.equal(disposed.stats().state, 'closed')
})

for (const end of ['close', 'destroy']) {
  test(`process.exit() during ${end}() ends the process at once with its code`, async () => {
    const { exitCode, signal, errors } = await runProgram(`
      const words = new Int32Array(new SharedArrayBuffer(64))
      const pool = new Pool({ filename: handler('tracked.js'), name: 'endless', minThreads: 2, maxThreads: 2 })
      for (const index of [0, 1, 2, 3]) pool.run({ words, size: 4, index }).catch(() => {})
      while (Atomics.load(words, 0) < 2) await new Promise(resolve => setImmediate(resolve))
      void pool.${end}()
      process.exit(7)
    `)
    assert.deepEqual([exitCode, signal], [7, null], errors)
  })
}
