// Late and missing answers: timeouts and deadlines hold, and a blocked host makes no task late.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('late.js')
const one = { filename, minWorkers: 1, maxWorkers: 1 }
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the event loop of the host. */
const hold = milliseconds => Atomics.wait(sleeper, 0, 0, milliseconds)

for (const transport of ['shared-memory', 'messages']) {
  test(`a timeout does not reject an answer that a blocked host reads late (transport: ${transport})`, async open => {
    const pool = open({ ...one, transport })
    await pool.run(0)
    for (let value = 0; value < 5; value++) {
      const task = pool.run(value, { name: 'print', timeout: 500 })
      hold(1000)
      assert.equal(await task, value)
    }
  })

  for (const handlerName of ['endless', 'endlessPrinted']) {
    test(`a timeout rejects a task whose result has an endless getter (${handlerName}, transport: ${transport})`, async open => {
      const pool = open({ ...one, transport })
      const { name, limit } = await rejection(pool.run(0, { name: handlerName, timeout: 100 }))
      assert.deepEqual([name, limit], ['TimeoutError', 'timeout'])
      assert.equal(await pool.run('next'), 'next')
    })

    test(`an abort rejects a task whose result has an endless getter (${handlerName}, transport: ${transport})`, async open => {
      const pool = open({ ...one, transport })
      await pool.run(0)
      const task = pool.run(0, { name: handlerName, signal: AbortSignal.timeout(100) })
      assert.equal((await rejection(task)).name, 'AbortError')
      assert.equal(await pool.run('next'), 'next')
    })
  }

  test(`deadline includes the wait for printed output, and timeout excludes it (transport: ${transport})`, async open => {
    const pool = open({ ...one, transport })
    await pool.run(0)
    const { limit } = await rejection(pool.run(0, { name: 'corked', deadline: Date.now() + 100 }))
    assert.equal(limit, 'deadline')
    assert.equal(await pool.run('next'), 'next', 'its worker was replaced')
    assert.equal(await pool.run('late', { name: 'corkedFor', timeout: 100 }), 'late')
  })
}

for (const backend of ['thread', 'process']) {
  test(`concurrent tasks that call process.exit() all reject with ERR_LIDO_WORKER_EXIT (backend: ${backend})`, async open => {
    const pool = open({ ...one, backend, concurrentTasksPerWorker: 8 })
    const ends = await Promise.all([1, 2, 3, 4].map(value => rejection(pool.run(value, { name: 'exit' }))))
    assert.deepEqual(new Set(ends.map(({ code }) => code)), new Set(['ERR_LIDO_WORKER_EXIT']))
  })
}

test('timeout and queueTimeout reject a task in a blocked worker process', async open => {
  for (const limit of ['timeout', 'queueTimeout']) {
    const pool = open({ ...one, backend: 'process' })
    await pool.run(0, { name: 'hangLater' })
    const error = await rejection(pool.run(1, { [limit]: 200 }))
    assert.deepEqual([error.name, error.limit], ['TimeoutError', limit])
    assert.equal(await pool.run('next'), 'next', 'its worker was replaced')
  }
})

test('a task over its time limit does not harm the earlier task in its worker process', async open => {
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

test('run() accepts every task after room() while worker processes start', async open => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, backend: 'process', maxQueue: 0 })
  const answers = []
  for (let value = 0; value < 10; value++) {
    await pool.room()
    answers.push(pool.run(value))
  }
  assert.deepEqual(await Promise.all(answers), [...answers.keys()])
})

test('queueTimeout does not kill a worker process that still starts', async open => {
  const pool = open({ ...one, backend: 'process', cancelGrace: 0 })
  const { limit } = await rejection(pool.run(1, { queueTimeout: 1 }))
  assert.equal(limit, 'queueTimeout')
  assert.equal(await pool.run('next'), 'next')
  assert.equal(pool.workers[0].id, 1)
})

test('a timeout does not reject a large answer of a worker process that a blocked host reads late', async open => {
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

test('foreign bytes on the message pipe of a worker process cost only that worker', async open => {
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

test('room() limits the accepted tasks while the host still reads large results', async open => {
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
  // A task for each running slot, a result for each slot, the queue, and the places that room() granted before.
  assert.ok(most <= slots + slots + 2 * slots + 2, `${most} at once`)
})
