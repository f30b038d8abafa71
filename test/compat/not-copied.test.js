// Piscina 5.3.2 has 13 behaviours that lido/piscina does not copy. Each test shows the behaviour of lido/piscina instead. The
// numbers are those of docs/guides/from-piscina.md.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Piscina from 'lido/piscina'

const door = fileURLToPath(new URL('./handlers/door.cjs', import.meta.url))

function makeFlag() {
  return new Int32Array(new SharedArrayBuffer(4))
}

function raise(flag) {
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
}

describe('behaviour that differs from Piscina 5.3.2', () => {
  test('1: close() waits for every running task, also when other workers finish several tasks', async () => {
    const pool = new Piscina({ filename: door, minThreads: 2, maxThreads: 2 })
    const flag = makeFlag()
    const long = pool.run(flag, { name: 'waitForFlag' })
    const short = [1, 2, 3, 4].map(value => pool.run(value, { name: 'echo' }))
    const closed = pool.close()
    assert.deepEqual(await Promise.all(short), [1, 2, 3, 4])
    raise(flag)
    assert.equal(await long, 'flag seen')
    await closed
  })

  test('2: close() resolves when running and queued tasks are aborted during it', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1 })
    const controller = new AbortController()
    const tasks = [1, 2, 3].map(() => pool.run(null, { name: 'loop', signal: controller.signal }))
    const last = pool.run('last', { name: 'echo' })
    const closed = pool.close()
    controller.abort()
    for (const outcome of await Promise.allSettled(tasks)) assert.equal(outcome.reason.name, 'AbortError')
    assert.equal(await last, 'last')
    await closed
  })

  for (const [how, name, message] of [
    ['an abort', 'loop', /The task has been aborted/],
    ['a crash', 'exit', /worker exited with code: 1/],
  ]) {
    test(`3: queued tasks run after ${how} of the last worker when minThreads is 0`, async () => {
      const pool = new Piscina({ filename: door, minThreads: 0, maxThreads: 1 })
      const controller = new AbortController()
      await pool.run('warm', { name: 'echo' })
      const first = pool.run(null, name === 'loop' ? { name, signal: controller.signal } : { name })
      const second = pool.run('second', { name: 'echo' })
      controller.abort()
      await assert.rejects(first, message)
      assert.equal(await second, 'second')
      await pool.close()
    })
  }

  test('4: maxQueue counts tasks with a signal', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1, maxQueue: 1 })
    const flag = makeFlag()
    const { signal } = new AbortController()
    const tasks = Array.from({ length: 20 }, () => pool.run(flag, { name: 'waitForFlag', signal }))
    assert.equal(pool.queueSize, 1)
    raise(flag)
    const outcomes = await Promise.allSettled(tasks)
    assert.equal(outcomes.filter(outcome => outcome.status === 'fulfilled').length, 2)
    for (const { reason } of outcomes.slice(2)) assert.equal(reason.message, 'Task queue is at limit')
    await pool.close()
  })

  test('5: a refused task never runs when maxQueue is 0', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1, maxQueue: 0 })
    const flag = makeFlag()
    const counter = makeFlag()
    const first = pool.run(flag, { name: 'waitForFlag' })
    await assert.rejects(
      pool.run(counter, { name: 'count' }),
      /No task queue available and all Workers are busy/,
    )
    raise(flag)
    await first
    await pool.close()
    assert.equal(Atomics.load(counter, 0), 0)
    assert.equal(pool.completed, 1)
  })

  test('6: tasks start in the order of submission', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1 })
    const counter = makeFlag()
    const order = await Promise.all(Array.from({ length: 200 }, () => pool.run(counter, { name: 'count' })))
    assert.deepEqual(order, [...order.keys()])
    await pool.close()
  })

  test('7: utilization is the share of time in which workers were busy', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1 })
    await pool.run(1, { name: 'echo' })
    const before = pool.utilization * pool.duration
    await pool.run(200, { name: 'busy' })
    const busyMs = pool.utilization * pool.duration - before
    assert.ok(busyMs >= 199, `200 ms of work count as ${busyMs} ms`)
    assert.ok(pool.utilization <= 1)
    await pool.close()
  })

  test('8: an aborted task leaves an ArrayTaskQueue, and the next task runs', async () => {
    const taskQueue = new Piscina.ArrayTaskQueue()
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1, taskQueue })
    const flag = makeFlag()
    const controller = new AbortController()
    const first = pool.run(flag, { name: 'waitForFlag' })
    const aborted = pool.run(1, { name: 'echo', signal: controller.signal })
    const third = pool.run(3, { name: 'echo' })
    controller.abort()
    await assert.rejects(aborted, /The task has been aborted/)
    assert.equal(pool.queueSize, 1)
    raise(flag)
    await first
    assert.equal(await third, 3)
    await pool.close()
  })

  test('9: drain comes for tasks with a signal and with a fractional maxThreads, and needsDrain once', async () => {
    const pool = new Piscina({ filename: door, minThreads: 1, maxThreads: 1.5 })
    const { signal } = new AbortController()
    let needsDrainEvents = 0
    pool.on('needsDrain', () => needsDrainEvents++)
    const drained = once(pool, 'drain')
    await Promise.all(Array.from({ length: 8 }, () => pool.run(1, { name: 'echo', signal })))
    await drained
    assert.equal(pool.needsDrain, false)
    assert.equal(needsDrainEvents, 1)
    await pool.close()
  })

  test('10: every call of a broken file rejects, and a CommonJS file runs once in each worker', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lido-broken-'))
    const filename = join(folder, 'broken.cjs')
    const log = join(folder, 'log')
    await writeFile(log, '')
    await writeFile(
      filename,
      `require('node:fs').appendFileSync(${JSON.stringify(log)}, require('node:worker_threads').threadId + '\\n')
       throw new Error('broken on purpose')`,
    )
    const pool = new Piscina({ filename, minThreads: 1, maxThreads: 1 })
    for (let call = 0; call < 10; call++) await assert.rejects(pool.run(call), /broken on purpose/)
    const threads = (await readFile(log, 'utf8')).trim().split('\n')
    assert.equal(new Set(threads).size, threads.length)
    await pool.close()
  })

  test('11: ten bursts of four tasks use at most four workers', async () => {
    const pool = new Piscina({ filename: door, minThreads: 0, maxThreads: 4 })
    const threads = new Set()
    for (let burst = 0; burst < 10; burst++) {
      const ids = await Promise.all([1, 2, 3, 4].map(() => pool.run(null, { name: 'threadId' })))
      for (const id of ids) threads.add(id)
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.ok(threads.size <= 4, `${threads.size} threads`)
    await pool.close()
  })

  test('12: fifty tasks can share one signal without a warning', async () => {
    const program = `
      import Piscina from 'lido/piscina'
      const pool = new Piscina({ filename: ${JSON.stringify(door)}, maxThreads: 1 })
      const { signal } = new AbortController()
      await Promise.all(Array.from({ length: 50 }, () => pool.run(1, { name: 'echo', signal })))
      await pool.close()
    `
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    let warnings = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      warnings += text
    })
    const [code] = await once(child, 'close')
    assert.equal(warnings, '')
    assert.equal(code, 0)
  })

  test('13: a task does not wait for a starting worker while a ready worker is free', async () => {
    const gate = makeFlag()
    const folder = await mkdtemp(join(tmpdir(), 'lido-slow-'))
    const filename = join(folder, 'slow-start.cjs')
    await writeFile(
      filename,
      `const { workerData, threadId } = require('node:worker_threads')
       const isFirst = Atomics.add(workerData.started, 0, 1) === 0
       if (!isFirst) Atomics.wait(workerData.gate, 0, 0)
       module.exports = () => threadId`,
    )
    const workerData = { gate, started: makeFlag() }
    const pool = new Piscina({ filename, minThreads: 2, maxThreads: 2, workerData })
    const ids = await Promise.all(Array.from({ length: 6 }, () => pool.run(null)))
    assert.equal(new Set(ids).size, 1)
    raise(gate)
    await pool.close()
  })
})
