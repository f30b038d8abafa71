// `pool.resize()` with running tasks, with queued tasks, and after `close()`.
import assert from 'node:assert/strict'
import { rejection } from '../../helpers/rejection.js'
import { untilItWorks } from '../../helpers/retry.js'

const names = count => Array.from({ length: count }, (_, index) => `task ${index}`)

export const resizing = {
  async 'resize() to more workers starts workers for the queued tasks'({ open, journal }) {
    const pool = open()
    const answers = names(3).map(name => pool.run(journal.task(name), { name: 'gated' }))
    await journal.lines(1)
    pool.resize({ maxWorkers: 3 })
    assert.equal((await journal.lines(3)).length, 3, 'all tasks have started')
    assert.equal(pool.workers.length, 3)
    journal.open()
    assert.deepEqual(await Promise.all(answers), names(3))
    assert.deepEqual([pool.minWorkers, pool.maxWorkers], [1, 3])
  },

  async 'resize() starts workers up to the new minWorkers at once'({ open }) {
    const pool = open()
    pool.resize({ minWorkers: 2 })
    assert.equal(pool.workers.length, 2)
    assert.deepEqual([pool.options.minWorkers, pool.options.maxWorkers], [2, 2])
    assert.ok(Object.isFrozen(pool.options))
    assert.equal(await pool.run(1), 1)
  },

  async 'resize() to fewer workers stops idle workers first and lets started tasks finish'({
    open,
    journal,
  }) {
    const pool = open({ minWorkers: 3, maxWorkers: 3 })
    const answers = names(2).map(name => pool.run(journal.task(name), { name: 'gated' }))
    await journal.lines(2)
    const busy = pool.workers.filter(worker => worker.usage > 0).map(worker => worker.id)
    pool.resize({ maxWorkers: 2 })
    await untilItWorks(() => assert.equal(pool.workers.length, 2))
    assert.deepEqual(
      pool.workers.map(worker => worker.id),
      busy,
    )
    pool.resize({ maxWorkers: 1 })
    const next = pool.run('next')
    journal.open()
    assert.deepEqual(await Promise.all(answers), names(2))
    assert.equal(await next, 'next')
    await untilItWorks(() => assert.equal(pool.workers.length, 1))
    assert.equal(pool.stats().tasks.rejected, 0)
  },

  async 'resize() to fewer workers with a full queue loses no queued task'({ open, journal }) {
    const pool = open({ minWorkers: 2, maxWorkers: 2, maxQueue: 3 })
    const answers = names(5).map(name => pool.run(journal.task(name), { name: 'gated' }))
    await journal.lines(2)
    assert.equal((await rejection(pool.run(1))).code, 'ERR_LIDO_QUEUE_FULL')
    pool.resize({ maxWorkers: 1 })
    assert.equal((await rejection(pool.run(1))).code, 'ERR_LIDO_QUEUE_FULL')
    journal.open()
    assert.deepEqual(await Promise.all(answers), names(5))
    await untilItWorks(() => assert.equal(pool.workers.length, 1))
    assert.equal(await pool.run(2), 2)
  },

  async 'resize() to more workers resolves a pending room()'({ open, journal }) {
    const pool = open({ maxQueue: 0 })
    const first = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const room = pool.room()
    pool.resize({ maxWorkers: 2 })
    await room
    assert.equal(await pool.run(1), 1)
    journal.open()
    await first
  },

  async 'resize() throws PoolClosedError while the pool closes and afterwards'({ open, journal }) {
    const pool = open()
    const task = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const closed = pool.close()
    assert.throws(() => pool.resize({ maxWorkers: 2 }), { code: 'ERR_LIDO_POOL_CLOSED' })
    journal.open()
    assert.equal(await task, 'first')
    await closed
    assert.throws(() => pool.resize({ maxWorkers: 2 }), { code: 'ERR_LIDO_POOL_CLOSED' })
    assert.deepEqual([pool.maxWorkers, pool.workers.length], [1, 0])
  },
}
