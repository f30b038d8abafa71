// The number of running tasks and of queued tasks, and the order of their starts.
import assert from 'node:assert/strict'
import { rejection } from '../../helpers/rejection.js'

const upTo = count => Array.from({ length: count }, (_, index) => index)

export const limits = {
  async 'tasks of a worker start in the order of their submission'({ open, journal }) {
    const pool = open()
    const calls = upTo(200).map(index => pool.run({ ...journal.task(index) }, { name: 'note' }))
    await Promise.all(calls)
    assert.deepEqual(journal.written, upTo(200).map(String))
  },

  async 'maxWorkers times concurrentTasksPerWorker tasks run at once, and no more'({ open, journal }) {
    const pool = open({ maxWorkers: 2, minWorkers: 0, concurrentTasksPerWorker: 2 })
    const calls = upTo(9).map(index => pool.run(journal.task(index), { name: 'gated' }))
    await journal.lines(4)
    assert.equal(pool.stats().tasks.inFlight, 4)
    assert.equal(journal.written.length, 4)
    journal.open()
    assert.deepEqual(await Promise.all(calls), upTo(9))
  },

  async 'a task beyond maxQueue rejects and never runs'({ open, journal }) {
    const pool = open({ maxQueue: 1 })
    const first = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const second = pool.run(journal.task('second'), { name: 'gated' })
    const third = await rejection(pool.run(journal.task('third'), { name: 'gated' }))
    assert.equal(third.code, 'ERR_LIDO_QUEUE_FULL')
    journal.open()
    await Promise.all([first, second])
    assert.deepEqual(journal.written, ['first', 'second'])
  },

  async 'room() resolves when the queue has room for a task'({ open, journal }) {
    const pool = open({ maxQueue: 1 })
    const first = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const second = pool.run(2)
    const room = pool.room()
    journal.open()
    await Promise.all([first, second, room])
    assert.equal(await pool.run(3), 3)
  },

  async 'run() returns before its task is answered'({ open }) {
    const pool = open()
    await pool.run(0)
    const order = []
    const call = pool.run(1).then(() => order.push('answered'))
    order.push('returned')
    await call
    assert.deepEqual(order, ['returned', 'answered'])
  },
}
