// Large results: read in slices between which the event loop turns, in every situation that a task can be in by then.
import assert from 'node:assert/strict'
import { NotCloneableError, PoolClosedError, TaskCancelledError } from 'lido'
import { bytes, declined, graph, rows, text } from '../fixtures/handlers/sizable.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { upTo } from '../helpers/queued.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('sizable.js')
const many = 60_000
/** Each step of the reading is a slice of its own. */
const inSteps = { filename, minThreads: 1, maxThreads: 1, decodeSliceMs: 0 }

/** Resolves when the answer is here and not read yet: then the worker is free, and the caller not answered. */
async function arriving(pool) {
  for (;;) {
    const { fulfilled } = pool.stats().tasks
    if (pool.histogram.runTime.count > fulfilled) return
    await new Promise(setImmediate)
  }
}

for (const decodeSliceMs of [0, 5, Number.POSITIVE_INFINITY]) {
  test(`they are what structured clone gives, with slices of ${decodeSliceMs} ms`, async open => {
    const pool = open({ ...inSteps, decodeSliceMs })
    assert.deepEqual(await pool.run(many, { name: 'rows' }), rows(many))
    const { list, map, set, first, bytes: handed } = await pool.run(many, { name: 'graph' })
    assert.equal(first, list[0])
    assert.ok(list.every(entry => set.has(entry) && map.get(entry) === entry.index))
    assert.deepEqual([list, map.size, set.size, handed], [graph(many).list, many, many, graph(many).bytes])
    assert.equal(await pool.run(3e6, { name: 'text' }), text(3e6))
    assert.deepEqual(await pool.run(3e6, { name: 'bytes' }), bytes(3e6))
    const [error, long] = await pool.run(3e6, { name: 'declined' })
    assert.deepEqual([error.message, long], ['beside it', declined(3e6)[1]])
  })
}

test('the event loop turns while one is read', async open => {
  const pool = open(inSteps)
  const task = pool.run(many, { name: 'rows' })
  await arriving(pool)
  let turns = 0
  let isThere = false
  task.then(() => {
    isThere = true
  })
  for (; !isThere; turns++) await new Promise(setImmediate)
  assert.ok(turns > 20, `${turns} turns`)
})

test('a small result does not wait for a large one that the same worker gave before it', async open => {
  const pool = open(inSteps)
  // A worker that the system lets wait meanwhile gives the small one too late.
  for (let attempts = 20; attempts > 0; attempts--) {
    const order = []
    await Promise.all([
      pool.run(many, { name: 'rows' }).then(() => order.push('large')),
      pool.run(1, { name: 'rows' }).then(() => order.push('small')),
    ])
    if (order[0] === 'small') return
  }
  assert.fail('it waited each time')
})

test('several at once are all whole', async open => {
  const pool = open({ ...inSteps, maxThreads: 2 })
  const counts = upTo(6).map(index => 20_000 + 5_000 * index)
  const results = await Promise.all(counts.map(count => pool.run(count, { name: 'later' })))
  assert.deepEqual(
    results.map(result => result.length),
    counts,
  )
  assert.deepEqual(results[5], rows(counts[5]))
})

test('what the handler keeps of its result stays its own', async open => {
  const pool = open(inSteps)
  const first = await pool.run(null, { name: 'keptBytes' })
  const second = await pool.run(null, { name: 'keptBytes' })
  assert.deepEqual([first[0], second[0], second.length], [2, 3, 2 ** 20])
  assert.equal(await pool.run(null, { name: 'keptLength' }), 2 ** 20)
})

test('a task that is cancelled while its result is read rejects at once, and its worker is left alone', async open => {
  const pool = open(inSteps)
  const controller = new AbortController()
  const task = pool.run(many, { name: 'rows', signal: controller.signal })
  await arriving(pool)
  controller.abort('enough')
  const error = await rejection(task)
  assert.ok(error instanceof TaskCancelledError)
  assert.equal(error.reason, 'enough')
  assert.equal((await pool.run(10, { name: 'rows' })).length, 10)
  assert.deepEqual([pool.workers[0].id, pool.stats().tasks.cancelled], [1, 1])
})

test('a worker that dies when its answer is given has given it', async open => {
  const pool = open(inSteps)
  assert.deepEqual(await pool.run(many, { name: 'rowsAndExit' }), rows(many))
})

test('close() waits for results that are being read, and so does one with force', async open => {
  for (const options of [{}, { force: true }]) {
    const pool = open(inSteps)
    const task = pool.run(many, { name: 'rows' })
    await arriving(pool)
    const closed = pool.close(options)
    assert.equal((await task).length, many)
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
  }
})

test('destroy() rejects tasks whose results are being read, and counts them', async open => {
  const pool = open(inSteps)
  const task = pool.run(many, { name: 'rows' })
  await arriving(pool)
  const closed = pool.close()
  const [error] = await Promise.all([rejection(task), pool.destroy()])
  assert.ok(error instanceof PoolClosedError)
  assert.equal((await closed).cutOff, 1)
})

test('a large result that cannot be sent rejects its task alone', async open => {
  const pool = open(inSteps)
  const error = await rejection(pool.run(many, { name: 'impossible' }))
  assert.ok(error instanceof NotCloneableError)
  assert.match(error.message, /result\[60000\]/)
  assert.equal((await pool.run(many, { name: 'rows' })).length, many)
})

test('run times end when the answer is here, not when it is read', async open => {
  const pool = open(inSteps)
  const controller = new AbortController()
  const task = pool.run(many, { name: 'rows', signal: controller.signal })
  await arriving(pool)
  assert.equal(pool.histogram.runTime.count, 1)
  controller.abort()
  await rejection(task)
})

test('the process lives until a result is read, and ends by itself then', async () => {
  const { exitCode, output, errors } = await runProgram(`
    const pool = new Pool({ filename: handler('sizable.js'), maxThreads: 1, decodeSliceMs: 0 })
    pool.run(${many}, { name: 'rows' }).then(result => console.log(result.length))
  `)
  assert.deepEqual([exitCode, output, errors], [0, `${many}\n`, ''])
})
