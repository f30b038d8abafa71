// Large results: the host reads them in slices, and its event loop turns between two slices.
import assert from 'node:assert/strict'
import { NotCloneableError, PoolClosedError, TaskCancelledError } from 'lido'
import { bytes, declined, graph, rows, text } from '../fixtures/handlers/sizable.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { upTo } from '../helpers/queued.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('sizable.js')
/** Enough rows that the host reads them in several slices. */
const many = 200_000
const one = { filename, minWorkers: 1, maxWorkers: 1 }

/** Resolves when an answer has arrived and the host has not read it yet. The worker is free, and the call is pending. */
async function arriving(pool) {
  for (;;) {
    const { fulfilled } = pool.stats().tasks
    if (pool.histogram.runTime.count > fulfilled) return
    await new Promise(setImmediate)
  }
}

test('large results arrive whole, with their shared references, maps, sets and bytes', async open => {
  const pool = open(one)
  assert.deepEqual(await pool.run(many, { name: 'rows' }), rows(many))
  const { list, map, set, first, bytes: handed } = await pool.run(many, { name: 'graph' })
  assert.equal(first, list[0])
  assert.ok(list.every(entry => set.has(entry) && map.get(entry) === entry.index))
  assert.deepEqual([list, map.size, set.size, handed], [graph(many).list, many, many, graph(many).bytes])
  for (const length of [3e5, 1e6, 3e6]) assert.equal(await pool.run(length, { name: 'text' }), text(length))
  assert.deepEqual(await pool.run(3e6, { name: 'bytes' }), bytes(3e6))
  const [error, long] = await pool.run(3e6, { name: 'declined' })
  assert.deepEqual([error.message, long], ['beside it', declined(3e6)[1]])
})

test('the event loop of the host turns while the host reads a large result', async open => {
  const pool = open(one)
  const task = pool.run(many, { name: 'rows' })
  await arriving(pool)
  let turns = 0
  let isThere = false
  task.then(() => {
    isThere = true
  })
  for (; !isThere; turns++) await new Promise(setImmediate)
  assert.ok(turns > 1, `${turns} turns`)
})

test('a small result does not wait for a large result that the same worker sent before', async open => {
  const pool = open(one)
  // The system may pause the worker. Then the small result comes too late, and the test tries again.
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

test('several large results that arrive together are whole', async open => {
  const pool = open({ ...one, maxWorkers: 2 })
  const counts = upTo(6).map(index => 20_000 + 5_000 * index)
  const results = await Promise.all(counts.map(count => pool.run(count, { name: 'later' })))
  assert.deepEqual(
    results.map(result => result.length),
    counts,
  )
  assert.deepEqual(results[5], rows(counts[5]))
})

test('a buffer that a handler keeps stays intact after the handler returned it', async open => {
  const pool = open(one)
  const first = await pool.run(null, { name: 'keptBytes' })
  const second = await pool.run(null, { name: 'keptBytes' })
  assert.deepEqual([first[0], second[0], second.length], [2, 3, 2 ** 20])
  assert.equal(await pool.run(null, { name: 'keptLength' }), 2 ** 20)
})

test('a task that is cancelled while the host reads its result rejects and keeps its worker', async open => {
  const pool = open(one)
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

test('a large result arrives although its worker exits after the answer', async open => {
  const pool = open(one)
  assert.deepEqual(await pool.run(many, { name: 'rowsAndExit' }), rows(many))
})

test('close() waits for large results that the host still reads, also with force', async open => {
  for (const options of [{}, { force: true }]) {
    const pool = open(one)
    const task = pool.run(many, { name: 'rows' })
    await arriving(pool)
    const closed = pool.close(options)
    assert.equal((await task).length, many)
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
  }
})

test('destroy() rejects tasks whose results the host still reads', async open => {
  const pool = open(one)
  const task = pool.run(many, { name: 'rows' })
  await arriving(pool)
  const closed = pool.close()
  const [error] = await Promise.all([rejection(task), pool.destroy()])
  assert.ok(error instanceof PoolClosedError)
  assert.equal((await closed).cutOff, 1)
})

test('a large result that cannot be cloned rejects only its own task', async open => {
  const pool = open(one)
  const error = await rejection(pool.run(many, { name: 'impossible' }))
  assert.ok(error instanceof NotCloneableError)
  assert.match(error.message, /result\[200000\]/)
  assert.equal((await pool.run(many, { name: 'rows' })).length, many)
})

test('runTime counts a task when its answer arrives, before the host reads the result', async open => {
  const pool = open(one)
  const controller = new AbortController()
  const task = pool.run(many, { name: 'rows', signal: controller.signal })
  await arriving(pool)
  assert.equal(pool.histogram.runTime.count, 1)
  controller.abort()
  await rejection(task)
})

test('the process stays alive until the host has read a large result', async () => {
  const { exitCode, output, errors } = await runProgram(`
    const pool = new Pool({ filename: handler('sizable.js'), maxWorkers: 1 })
    pool.run(${many}, { name: 'rows' }).then(result => console.log(result.length))
  `)
  assert.deepEqual([exitCode, output, errors], [0, `${many}\n`, ''])
})
