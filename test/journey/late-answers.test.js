// Answers that are late or never come: limits of time hold, and a busy host makes no task late.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('late.js')
const one = { filename, minWorkers: 1, maxWorkers: 1 }
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** The host's event loop does not turn. */
const hold = milliseconds => Atomics.wait(sleeper, 0, 0, milliseconds)

for (const transport of ['shared-memory', 'messages']) {
  const road = transport === 'shared-memory' ? 'shared memory' : 'messages'

  test(`${road}: an answer is in time although the host was too busy to read it`, async open => {
    const pool = open({ ...one, transport })
    await pool.run(0)
    for (let value = 0; value < 5; value++) {
      const task = pool.run(value, { name: 'print', timeout: 500 })
      hold(1000)
      assert.equal(await task, value)
    }
  })

  for (const handlerName of ['endless', 'endlessPrinted']) {
    test(`${road}: a timeout ends a task whose result has an endless getter (${handlerName})`, async open => {
      const pool = open({ ...one, transport })
      const { name, limit } = await rejection(pool.run(0, { name: handlerName, timeout: 100 }))
      assert.deepEqual([name, limit], ['TimeoutError', 'timeout'])
      assert.equal(await pool.run('next'), 'next')
    })

    test(`${road}: a signal ends a task whose result has an endless getter (${handlerName})`, async open => {
      const pool = open({ ...one, transport })
      await pool.run(0)
      const task = pool.run(0, { name: handlerName, signal: AbortSignal.timeout(100) })
      assert.equal((await rejection(task)).name, 'AbortError')
      assert.equal(await pool.run('next'), 'next')
    })
  }

  test(`${road}: a deadline counts while an answer waits for printed output, and a timeout does not`, async open => {
    const pool = open({ ...one, transport })
    await pool.run(0)
    const { limit } = await rejection(pool.run(0, { name: 'corked', deadline: Date.now() + 100 }))
    assert.equal(limit, 'deadline')
    assert.equal(await pool.run('next'), 'next', 'its worker was replaced')
    assert.equal(await pool.run('late', { name: 'corkedFor', timeout: 100 }), 'late')
  })
}

for (const backend of ['thread', 'process']) {
  test(`${backend}: tasks that wait for one file all start before one of them ends the worker`, async open => {
    const pool = open({ ...one, backend, concurrentTasksPerWorker: 8 })
    const ends = await Promise.all([1, 2, 3, 4].map(value => rejection(pool.run(value, { name: 'exit' }))))
    assert.deepEqual(new Set(ends.map(({ code }) => code)), new Set(['ERR_LIDO_WORKER_EXIT']))
  })
}

test('process: timeout and queueTimeout end a task behind a handler that hangs', async open => {
  for (const limit of ['timeout', 'queueTimeout']) {
    const pool = open({ ...one, backend: 'process' })
    await pool.run(0, { name: 'hangLater' })
    const error = await rejection(pool.run(1, { [limit]: 200 }))
    assert.deepEqual([error.name, error.limit], ['TimeoutError', limit])
    assert.equal(await pool.run('next'), 'next', 'its worker was replaced')
  }
})

test('process: a late task harms no task before it', async open => {
  for (const [limit, cancelGrace] of [
    ['timeout', 100],
    ['queueTimeout', 100],
    ['queueTimeout', 0],
  ]) {
    const pool = open({ ...one, backend: 'process', concurrentTasksPerWorker: 2, cancelGrace })
    await Promise.all([pool.run(0), pool.run(0, { name: 'hold' })])
    const before = pool.run(1500, { name: 'hold' })
    const error = await rejection(pool.run(1, { [limit]: 100 }))
    assert.equal(error.limit, limit)
    assert.equal(await before, 1500)
    assert.equal(await pool.run('next'), 'next')
    assert.equal(pool.workers[0].id, 1)
  }
})

test('process: room() admits no task that run() refuses while workers start', async open => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, backend: 'process', maxQueue: 0 })
  const answers = []
  for (let value = 0; value < 10; value++) {
    await pool.room()
    answers.push(pool.run(value))
  }
  assert.deepEqual(await Promise.all(answers), [...answers.keys()])
})

test('process: queueTimeout ends no worker that still starts', async open => {
  const pool = open({ ...one, backend: 'process', cancelGrace: 0 })
  const { limit } = await rejection(pool.run(1, { queueTimeout: 1 }))
  assert.equal(limit, 'queueTimeout')
  assert.equal(await pool.run('next'), 'next')
  assert.equal(pool.workers[0].id, 1)
})

test('process: a large answer is in time although the host was busy', async open => {
  const pool = open({ ...one, backend: 'process' })
  await pool.run(1, { name: 'sizable' })
  const answerOf = async name => {
    const task = pool.run(10_000_000, { name, timeout: 1000 })
    await new Promise(resolve => setTimeout(resolve, 20))
    hold(2000)
    return await task
  }
  assert.equal((await answerOf('sizable')).length, 10_000_000)
  assert.equal((await rejection(answerOf('throwSizable'))).detail?.length, 10_000_000)
})

test('process: foreign bytes on the message pipe end only that worker', async open => {
  const long = Buffer.alloc(16)
  long.writeUInt32LE(0xffffffff, 4)
  const ticket = Buffer.alloc(16)
  ticket.writeUInt32LE(1, 0)
  ticket.writeUInt32LE(1_000_000, 4)
  const unmarked = Buffer.alloc(16)
  unmarked.writeUInt32LE(1_000_000, 4)
  for (const bytes of ['native library: warning: something\n', long, ticket, unmarked]) {
    const pool = open({ ...one, backend: 'process' })
    const { code } = await rejection(pool.run(bytes, { name: 'babble' }))
    assert.equal(code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(await pool.run('next'), 'next')
  }
})

test('room() waits for results that a busy host has not read', async open => {
  const slots = 2
  const pool = open({ filename, minWorkers: slots, maxWorkers: slots, maxQueue: 2 })
  let most = 0
  const answers = []
  while (answers.length < 40) {
    await pool.room()
    answers.push(pool.run(20_000, { name: 'rows' }))
    most = Math.max(most, pool.stats().tasks.inFlight + pool.stats().tasks.waiting)
  }
  for (const { rows } of await Promise.all(answers)) assert.equal(rows.length, 20_000)
  // One for each slot that runs, one for each that is read, and the queue; what was granted before they came besides.
  assert.ok(most <= slots + slots + 2 * slots + 2, `${most} at once`)
})
