// Replaced workers, their teardowns, and tasks that run again.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { handler } from '../../helpers/handler.js'
import { rejection } from '../../helpers/rejection.js'
import { untilItWorks } from '../../helpers/retry.js'

const filename = handler('conformant-teardown.js')

export const renewal = {
  async 'maxTasksPerWorker: 2 uses at least three workers for six tasks'({ open }) {
    const pool = open({ maxTasksPerWorker: 2 })
    let created = 0
    pool.on('workerCreate', () => created++)
    for (let value = 0; value < 6; value++) assert.equal(await pool.run(value), value)
    assert.ok(created >= 3, `${created} workers`)
  },

  async 'maxTasksPerWorker loses no task with several slots'({ open }) {
    const pool = open({ maxTasksPerWorker: 3, concurrentTasksPerWorker: 2 })
    const values = Array.from({ length: 20 }, (_, index) => index)
    assert.deepEqual(await Promise.all(values.map(value => pool.run(value))), values)
  },

  async 'recycle() replaces each worker and lets running tasks finish'({ open, journal }) {
    const pool = open()
    const [old] = pool.workers
    const task = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const recycled = pool.recycle()
    await untilItWorks(async () => {
      assert.equal(await pool.run(2), 2)
      assert.equal(pool.workers.length, 2)
    })
    journal.open()
    assert.equal(await task, 'first')
    await recycled
    assert.equal(pool.workers.length, 1)
    assert.notEqual(pool.workers[0].id, old.id)
    assert.equal(await pool.run(3), 3)
  },

  async 'a teardown runs after recycle() and after close()'({ open, journal }) {
    const pool = open({ filename })
    await pool.run({ journal: journal.path })
    await pool.recycle()
    assert.deepEqual(journal.written, ['torn down'])
    await pool.run({ journal: journal.path })
    await pool.close()
    assert.deepEqual(journal.written, ['torn down', 'torn down'])
  },

  async 'a teardown runs when close() is called while its file still loads'({ open, journal }) {
    let attempts = 0
    // close() waits only a limited time for a worker that still loads its file. After a slow load the test tries again.
    await untilItWorks(async () => {
      const name = `attempt-${++attempts}`
      const before = journal.written.length
      const gated = journal.write(`${name}.mjs`, gatedWithTeardown(journal.task(name, name)))
      const pool = open({ filename: gated })
      await journal.lines(before + 1)
      const closed = pool.close()
      journal.open(name)
      await closed
      assert.deepEqual(journal.written.slice(before), [`loading ${name}`, 'torn down'])
    })
  },

  async 'a teardown that throws causes an error event, and the pool closes'({ open, journal }) {
    const pool = open({ filename })
    await pool.run({ journal: journal.path, does: 'throw' })
    const told = once(pool, 'error')
    await pool.close()
    const [error] = await told
    assert.equal(error.code, 'ERR_LIDO_TEARDOWN')
    assert.ok(error.cause instanceof RangeError)
  },

  async 'teardownTimeout stops a teardown that never ends'({ open, journal }) {
    const pool = open({ filename, teardownTimeout: 20 })
    await pool.run({ journal: journal.path, does: 'hang' })
    const told = once(pool, 'error')
    await pool.close()
    assert.match((await told)[0].message, /20 ms/)
    assert.deepEqual(journal.written, ['torn down'])
  },

  async 'closeTimeout stops a teardown that never ends'({ open, journal }) {
    const pool = open({ filename, teardownTimeout: Number.POSITIVE_INFINITY, closeTimeout: 50 })
    await pool.run({ journal: journal.path, does: 'hang' })
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: true })
    assert.equal(pool.workers.length, 0)
  },

  async 'destroy() stops a teardown that close() waits for'({ open, journal }) {
    const pool = open({ filename, teardownTimeout: Number.POSITIVE_INFINITY })
    await pool.run({ journal: journal.path, does: 'hang' })
    const closed = pool.close()
    await journal.lines(1)
    await pool.destroy()
    await closed
    assert.equal(pool.workers.length, 0)
  },

  async 'tasks run the changed file after reload()'({ open, journal }) {
    const file = journal.write('handler.mjs', 'export default () => "old"')
    const pool = open({ filename: file })
    assert.equal(await pool.run(), 'old')
    journal.write('handler.mjs', 'export default () => "new"')
    await pool.reload()
    assert.equal(await pool.run(), 'new')
  },

  async 'maxWorkerMemoryMb replaces a worker above the limit'({ open }) {
    const pool = open({ maxWorkerMemoryMb: 64 })
    const [old] = pool.workers
    await pool.run(80 * 2 ** 20, { name: 'keep' })
    await untilItWorks(async () => {
      assert.equal(await pool.run(2), 2)
      assert.ok(pool.workers.every(({ id }) => id !== old.id))
    })
  },

  async 'maxWorkerMemoryMb replaces a busy worker above the limit'({ open }) {
    const pool = open({ maxWorkerMemoryMb: 64 })
    const [old] = pool.workers
    await pool.run(80 * 2 ** 20, { name: 'keep' })
    const isThere = () => pool.workers.some(({ id }) => id === old.id)
    const caller = async () => {
      while (isThere()) await pool.run(1)
    }
    await Promise.all(Array.from({ length: 16 }, caller))
  },

  async 'a task with retry runs again after its worker exited'({ open, journal }) {
    const pool = open()
    const task = { journal: journal.path, deaths: 2 }
    assert.equal(await pool.run(task, { name: 'dieFirst', retry: { attempts: 3 } }), 3)
  },

  async 'retry.when() may cancel its own task and other tasks'({ open }) {
    const pool = open({ maxWorkers: 2 })
    for (const answer of [true, false]) {
      const batch = new AbortController()
      const asked = []
      const retry = {
        attempts: 3,
        when(error) {
          asked.push(error)
          batch.abort(error)
          return answer
        },
      }
      const options = { name: 'fail', signal: batch.signal, retry }
      const tasks = ['a', 'b', 'c', 'd'].map(kind => pool.run(kind, options))
      const codes = await Promise.all(tasks.map(task => rejection(task).then(({ code }) => code)))
      assert.deepEqual(codes, Array(4).fill('ERR_LIDO_TASK_CANCELLED'))
      assert.equal(asked.length, 1)
      assert.equal(await pool.run(5), 5)
      assert.equal(pool.stats().tasks.inFlight, 0)
    }
  },

  async 'a task with retry that exits every worker rejects with TaskQuarantinedError'({ open, journal }) {
    const pool = open()
    const task = { journal: journal.path, deaths: 9 }
    const error = await rejection(pool.run(task, { name: 'dieFirst', retry: { attempts: 2 } }))
    assert.equal(error.name, 'TaskQuarantinedError')
    assert.equal(error.cause.exitCode, 9)
  },
}

/** The source of a module that records its loading and waits for a gate. */
function gatedWithTeardown({ journal, gate, name }) {
  return `import { appendFileSync, existsSync } from 'node:fs'
const note = line => appendFileSync(${JSON.stringify(journal)}, line + '\\n')
note('loading ${name}')
while (!existsSync(${JSON.stringify(gate)})) await new Promise(resolve => setTimeout(resolve, 2))
export default value => value
export const teardown = () => note('torn down')`
}
