// Workers that the pool replaces while it works, on real threads: planned replacements, teardowns and retries.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TaskQuarantinedError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'
import { sharedWords } from '../helpers/shared-words.js'

const filename = handler('renewed.js')

for (const transport of ['shared-memory', 'messages']) {
  test(`maxTasksPerWorker limits the tasks of each worker (transport: ${transport})`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, maxTasksPerWorker: 10, transport })
    const threads = await Promise.all(Array.from({ length: 205 }, () => pool.run()))
    const counts = new Map()
    for (const thread of threads) counts.set(thread, (counts.get(thread) ?? 0) + 1)
    assert.ok(Math.max(...counts.values()) <= 10, [...counts.values()].join())
  })

  test(`maxTasksPerWorker: 1 runs each task in a new worker, also with 4 slots (transport: ${transport})`, async open => {
    const options = {
      minWorkers: 1,
      maxWorkers: 1,
      concurrentTasksPerWorker: 4,
      maxTasksPerWorker: 1,
      transport,
    }
    const pool = open({ filename, ...options })
    const threads = await Promise.all(Array.from({ length: 12 }, () => pool.run()))
    assert.equal(new Set(threads).size, 12)
  })

  test(`recycle() under load replaces all workers and loses no task (transport: ${transport})`, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, transport })
    const old = pool.workers.map(worker => worker.id)
    let isOver = false
    const running = []
    const recycled = pool.recycle().finally(() => {
      isOver = true
    })
    while (!isOver) {
      await pool.room()
      running.push(pool.run())
      if (running.length % 50 === 0) await new Promise(setImmediate)
      assert.ok(pool.workers.length <= 3)
    }
    await recycled
    await Promise.all(running)
    assert.ok(pool.workers.every(worker => !old.includes(worker.id)))
    assert.equal(pool.workers.length, 2)
  })
}

test('reload() loads the changed file, and keeps the old workers when the file does not load', async (open, t) => {
  const folder = openFolder(t)
  const file = folder.write('handler.mjs', 'export default () => "old"')
  const pool = open({ filename: file, minWorkers: 1, maxWorkers: 2 })
  assert.equal(await pool.run(), 'old')
  folder.write('handler.mjs', 'throw new Error("half written")')
  assert.match((await rejection(pool.reload())).message, /half written/)
  assert.equal(await pool.run(), 'old')
  folder.write('handler.mjs', 'export default () => "new"')
  await pool.reload()
  assert.equal(await pool.run(), 'new')
})

for (const backend of ['thread', 'process']) {
  for (const method of ['recycle', 'reload']) {
    test(`${method}() rejects while the file does not load (backend: ${backend})`, async (open, t) => {
      const folder = openFolder(t)
      const working = folder.write('working.mjs', 'export default () => "works"')
      for (const minWorkers of [0, 1]) {
        const pool = open({ filename: working, backend, minWorkers, maxWorkers: 1 })
        assert.equal(await pool.run(), 'works')
        folder.write('working.mjs', 'throw new Error("broken")')
        assert.equal((await rejection(pool[method]())).code, 'ERR_LIDO_WORKER_START')
        assert.equal(await pool.run(), 'works')
        folder.write('working.mjs', 'export default () => "works"')
        await pool[method]()
      }
      const broken = folder.write('broken.mjs', 'throw new Error("broken")')
      const pool = open({ filename: broken, backend, minWorkers: 1, maxWorkers: 1 })
      for (const state of ['starting', 'gone']) {
        const error = await rejection(pool[method]())
        assert.equal(error.code, 'ERR_LIDO_WORKER_START', state)
        await untilItWorks(() => assert.equal(pool.workers.length, 0))
      }
      folder.write('broken.mjs', 'export default () => "repaired"')
      await pool[method]()
      assert.equal(pool.workers.length, 1)
      assert.equal(await pool.run(), 'repaired')
    })

    test(`${method}() starts no worker when the pool has none and minWorkers is 0 (backend: ${backend})`, async (open, t) => {
      const filename = openFolder(t).write('broken.mjs', 'throw new Error("broken")')
      const pool = open({ filename, backend, minWorkers: 0, maxWorkers: 1 })
      await pool[method]()
      assert.equal(pool.workers.length, 0)
    })
  }
}

test('maxWorkerAge replaces an idle worker', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxWorkerAge: 300 })
  const first = await pool.run()
  // Wait for the exit of this thread. Another worker, which was slow to start, may exit before it.
  await untilItWorks(() => assert.ok(pool.workers.every(worker => worker.threadId !== first)))
  assert.notEqual(await pool.run(), first)
})

test('a teardown runs once for each worker that recycle() or close() stops', async open => {
  const teardowns = sharedWords(1)
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, workerData: { teardowns } })
  await untilItWorks(() => assert.ok(pool.workers.every(({ state }) => state === 'ready')))
  await pool.recycle()
  assert.equal(teardowns[0], 2)
  await pool.close()
  assert.equal(teardowns[0], 4)
})

for (const backend of ['thread', 'process']) {
  test(`callbacks of onTeardown() run after the teardown export, within its time limit (backend: ${backend})`, async (open, t) => {
    const folder = openFolder(t)
    const library = folder.write(
      'library.mjs',
      `import { onTeardown } from ${JSON.stringify(import.meta.resolve('lido/worker'))}
      import { appendFileSync } from 'node:fs'
      const write = text => appendFileSync(new URL('lines.txt', import.meta.url), text + '\\n')
      onTeardown(() => write('removed'))()
      onTeardown(async () => { await null; write('library') })
      onTeardown(() => new Promise(resolve => setTimeout(resolve, 1500)).then(() => write('late library')))
      onTeardown(() => { throw new Error('library failed') })`,
    )
    const file = folder.write(
      'handler.mjs',
      `import { appendFileSync } from 'node:fs'
      export default () => 1
      export const teardown = () => appendFileSync(new URL('lines.txt', import.meta.url), 'module\\n')`,
    )
    const execArgv = ['--import', pathToFileURL(library).href]
    const pool = open({ filename: file, minWorkers: 1, maxWorkers: 1, backend, execArgv })
    const errors = []
    pool.on('error', error => errors.push(error.cause.message))
    await pool.run()
    await pool.close()
    assert.equal(readFileSync(join(folder.path, 'lines.txt'), 'utf8'), 'module\nlibrary\nlate library\n')
    assert.deepEqual(errors, ['library failed'])
  })
}

test('a teardown does not run when destroy() kills its worker', async open => {
  const teardowns = sharedWords(1)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, workerData: { teardowns } })
  await pool.run()
  await pool.destroy()
  assert.equal(teardowns[0], 0)
})

test('output of a teardown appears when the process exits right after close()', async () => {
  const { exitCode, output, errors } = await runProgram(`
    const pool = new Pool({ filename: handler('renewed.js'), minWorkers: 1, maxWorkers: 1 })
    await pool.run()
    await pool.close()
  `)
  assert.deepEqual([exitCode, output, errors], [0, 'torn down\n', ''])
})

test('a task with retry runs until it succeeds or has used its attempts, and harms no other task', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 2 })
  const [lives, dies] = [sharedWords(1), sharedWords(1)]
  const retry = { attempts: 3 }
  const [ran, quarantined, ...others] = await Promise.allSettled([
    pool.run({ words: lives, runs: 3 }, { name: 'dieUntil', retry }),
    pool.run({ words: dies, runs: 99 }, { name: 'dieUntil', retry }),
    ...Array.from({ length: 20 }, () => pool.run()),
  ])
  assert.equal(ran.value, 3)
  assert.ok(quarantined.reason instanceof TaskQuarantinedError)
  assert.deepEqual([quarantined.reason.workers, quarantined.reason.cause.exitCode, dies[0]], [3, 9, 3])
  assert.ok(others.every(({ status }) => status === 'fulfilled'))
})

test('a task with retry runs again while retry.when() returns true, and may not have a transferList', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const words = sharedWords(1)
  const asked = []
  const retry = { attempts: 3, when: (error, attempt) => asked.push([error.message, attempt]) > 0 }
  assert.equal(await pool.run({ words, runs: 3 }, { name: 'failUntil', retry }), 3)
  assert.deepEqual(asked, [
    ['run 1', 1],
    ['run 2', 2],
  ])
  const moved = pool.run(new ArrayBuffer(8), { name: 'failUntil', retry, transferList: [new ArrayBuffer(8)] })
  assert.equal((await rejection(moved)).code, 'ERR_LIDO_INVALID_TASK')
})

test('two concurrent recycle() calls replace each worker only once', async open => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2 })
  await pool.run()
  await Promise.all([pool.recycle(), pool.recycle()])
  assert.deepEqual(
    pool.workers.map(({ id }) => id),
    [3, 4],
  )
})
