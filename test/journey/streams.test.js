// `pool.stream()` and streams of `pool.api`: chunks, back-pressure, early ends, and failures half-way.
import assert from 'node:assert/strict'
import {
  InvalidTaskError,
  NotCloneableError,
  PoolClosedError,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
  WorkerExitError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { reached, sharedWords } from '../helpers/shared-words.js'

const filename = handler('streaming.js')

/** Iterates to the end. Returns the chunks, and the error as the last entry. */
async function collect(stream) {
  const chunks = []
  try {
    for await (const chunk of stream) chunks.push(chunk)
  } catch (error) {
    chunks.push(error)
  }
  return chunks
}

for (const [title, options] of Object.entries(backends)) {
  test(`generators, promises of generators and web streams give their chunks on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const numbers = Array.from({ length: 1000 }, (_, n) => n)
    for (const name of ['count', 'asPromise', 'webStream']) {
      assert.deepEqual(await pool.stream({ to: 1000 }, { name }).toArray(), numbers, name)
    }
    const objects = await pool.stream({ to: 3 }, { name: 'slowly' }).toArray()
    assert.deepEqual(objects, [{ n: 0 }, { n: 1 }, { n: 2 }])
    assert.deepEqual(await pool.stream(0, { name: 'promises' }).toArray(), [1, 2])
    assert.deepEqual(await pool.stream(0, { name: 'changing' }).toArray(), [{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test(`break cancels the task, and the pool goes on, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    for (const name of ['endless', 'slowly']) {
      let seen = 0
      for await (const _ of pool.stream({ to: 1e9 }, { name })) if (++seen === 3) break
      assert.equal(seen, 3)
    }
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
    assert.equal(pool.stats().tasks.cancelled, 2)
  })

  test(`an error arrives after the chunks before it on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const [one, two, error] = await collect(pool.stream(0, { name: 'thenThrow' }))
    assert.deepEqual([one, two], [1, 2])
    assert.ok(error instanceof RangeError)
    if (options.backend === 'inline') return
    const died = await collect(pool.stream(0, { name: 'thenExit' }))
    assert.ok(died.at(-1) instanceof WorkerExitError)
    assert.deepEqual(died.slice(0, -1), [1])
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })

  test(`a chunk that cannot be copied ends the stream on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const [one, error] = await collect(pool.stream(0, { name: 'uncloneable' }))
    assert.equal(one, 1)
    assert.ok(error instanceof NotCloneableError)
    assert.equal(error.path, 'chunk.a.call')
  })

  test(`a signal and a time limit end a stream on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const controller = new AbortController()
    const stream = pool.stream({ to: 1e9 }, { name: 'slowly', signal: controller.signal })
    await stream.next()
    controller.abort()
    assert.ok((await rejection(stream.next())) instanceof TaskCancelledError)
    assert.deepEqual(await stream.next(), { value: undefined, done: true })
    const late = await collect(pool.stream({ to: 1e9 }, { name: 'slowly', timeout: 30 }))
    assert.ok(late.at(-1) instanceof TaskTimeoutError)
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })

  test(`functions of pool.api give streams and values on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    assert.deepEqual(await collect(pool.api.between(2, 5)), [2, 3, 4])
    const stream = await pool.api.between(0, 3)
    assert.deepEqual(await stream.toArray(), [0, 1, 2])
    assert.deepEqual(await collect(pool.api.asPromise({ to: 2 })), [0, 1])
    assert.equal(await pool.api.plain(), 1)
    const [refusal] = await collect(pool.api.plain())
    assert.match(refusal.message, /no stream/)
    for await (const _ of pool.api.between(0, 1e9)) break
    assert.equal(await pool.api.plain(), 1)
  })

  test(`run() of a generator and stream() of a value say what to call on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const error = await rejection(pool.run({ to: 1 }, { name: 'count' }))
    assert.ok(error instanceof NotCloneableError)
    assert.match(error.message, /stream\(\)/)
    assert.match((await rejection(pool.stream(0, { name: 'plain' }).next())).message, /run\(\)/)
  })

  test(`close() waits for an open stream, and destroy() rejects its reader, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const stream = pool.stream({ to: 100 }, { name: 'slowly' })
    await stream.next()
    const closed = pool.close()
    assert.equal((await stream.toArray()).length, 99)
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.ok((await rejection(pool.stream({ to: 1 }, { name: 'count' }).next())) instanceof PoolClosedError)

    const other = open({ filename, maxWorkers: 1, ...options })
    const cut = other.stream({ to: 1e9 }, { name: 'slowly' })
    await cut.next()
    const [outcome] = await Promise.all([collect(cut), other.destroy()])
    assert.ok(outcome.at(-1) instanceof PoolClosedError)
  })

  test(`the context of the task reaches the generator on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    assert.deepEqual(await pool.stream(0, { name: 'isCancelled' }).toArray(), [false, false])
  })
}

test('a handler pauses while the reader takes nothing', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const words = sharedWords(2)
  const stream = pool.stream({ to: 1000, words }, { name: 'count', highWaterMark: 4 })
  await stream.next()
  await reached(words, 0, 4)
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
  // One chunk was taken, and at most four wait.
  assert.ok(Atomics.load(words, 0) <= 5, String(Atomics.load(words, 0)))
  assert.equal((await stream.toArray()).length, 999)
  assert.equal(Atomics.load(words, 1), 1)
})

test('highWaterMarkBytes limits the bytes that wait', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const options = { name: 'buffers', highWaterMark: 1000, highWaterMarkBytes: 100_000 }
  for (const isMoved of [false, true]) {
    const stream = pool.stream({ count: 50, bytes: 60_000, isMoved }, options)
    let sum = 0
    await stream.forEach(chunk => {
      sum += chunk.length + chunk[0]
    })
    assert.equal(sum, 50 * 60_000 + 25 * 49)
  }
})

test('the finally of a generator runs after break, a signal, a limit and at the end', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const ways = {
    async break(stream) {
      for await (const _ of stream) break
    },
    async return(stream) {
      await stream.next()
      const waiting = stream.next()
      await stream.return()
      assert.deepEqual(await waiting, { value: undefined, done: true })
    },
  }
  for (const end of Object.values(ways)) {
    for (const name of ['slowly', 'untilAborted']) {
      const words = sharedWords(2)
      await end(pool.stream({ to: 1e9, words }, { name }))
      await reached(words, 1)
    }
  }
  const words = sharedWords(2)
  await rejection(pool.stream({ words }, { name: 'untilAborted', timeout: 20 }).toArray())
  await reached(words, 1)
  assert.equal(pool.workers[0].id, 1)
})

test('a stream is submitted with its first chunk, and refused like run()', async open => {
  const pool = open({ filename, maxWorkers: 1, maxQueue: 0 })
  const stream = pool.stream({ to: 3 }, { name: 'slowly' })
  assert.equal(pool.stats().tasks.accepted, 0)
  await stream.next()
  assert.ok((await rejection(pool.stream({ to: 3 }, { name: 'slowly' }).next())) instanceof QueueFullError)
  await stream.return()
  const controller = new AbortController()
  controller.abort()
  const refused = pool.stream(0, { name: 'count', signal: controller.signal })
  assert.ok((await rejection(refused.next())) instanceof TaskCancelledError)
})

test('a stream that is closed before its first chunk submits no task', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const stream = pool.stream({ to: 3 }, { name: 'count' })
  await stream.return()
  assert.deepEqual(await stream.next(), { value: undefined, done: true })
  assert.equal(pool.stats().tasks.accepted, 0)
})

test('stream() refuses wrong options', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const options of [{ highWaterMark: 0 }, { highWaterMarkBytes: '1' }, { retry: { attempts: 2 } }, 7]) {
    assert.throws(() => pool.stream(0, options), InvalidTaskError)
  }
})
