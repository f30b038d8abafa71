// Cancelling, closing, dying.
import assert from 'node:assert/strict'
import { rejection } from '../../helpers/rejection.js'

export const endings = {
  async 'an aborted signal rejects before anything runs'({ open, journal }) {
    const pool = open()
    const error = await rejection(
      pool.run(journal.task('never'), { name: 'note', signal: AbortSignal.abort('no') }),
    )
    assert.equal(error.name, 'AbortError')
    assert.equal(error.reason, 'no')
    await pool.run(1)
    assert.deepEqual(journal.written, [])
  },

  async 'a waiting task that is cancelled never runs'({ open, journal }) {
    const pool = open()
    const controller = new AbortController()
    const first = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const second = rejection(pool.run(journal.task('second'), { name: 'note', signal: controller.signal }))
    controller.abort()
    assert.equal((await second).code, 'ERR_LIDO_TASK_CANCELLED')
    journal.open()
    await first
    await pool.run(1)
    assert.deepEqual(journal.written, ['first'])
  },

  async 'a running task that is cancelled rejects at once, and the next one runs'({ open, journal }) {
    const pool = open()
    const controller = new AbortController()
    const call = rejection(pool.run({ journal: journal.path }, { name: 'spin', signal: controller.signal }))
    await journal.lines(1)
    controller.abort()
    assert.equal((await call).name, 'AbortError')
    assert.equal(await pool.run(2), 2)
  },

  async 'close() runs accepted tasks and refuses new ones'({ open, journal }) {
    const pool = open()
    const calls = ['first', 'second'].map(name => pool.run(journal.task(name), { name: 'gated' }))
    await journal.lines(1)
    const closed = pool.close()
    assert.equal((await rejection(pool.run(1))).code, 'ERR_LIDO_POOL_CLOSED')
    journal.open()
    assert.deepEqual(await Promise.all(calls), ['first', 'second'])
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.equal(pool.workers.length, 0)
  },

  async 'close() rejects running tasks after closeTimeout'({ open, journal }) {
    const pool = open({ closeTimeout: 1 })
    const call = rejection(pool.run({ journal: journal.path }, { name: 'never' }))
    await journal.lines(1)
    assert.deepEqual(await pool.close(), { cutOff: 1, timedOut: true })
    assert.equal((await call).reason, 'timeout')
  },

  async 'destroy() rejects running and waiting tasks'({ open, journal }) {
    const pool = open()
    const calls = [
      pool.run({ journal: journal.path }, { name: 'never' }),
      pool.run(journal.task('waiting'), { name: 'note' }),
    ].map(rejection)
    await journal.lines(1)
    await Promise.all([pool.destroy(), pool.destroy()])
    for (const error of await Promise.all(calls)) assert.equal(error.reason, 'destroyed')
    assert.deepEqual(journal.written, ['begun'])
  },

  async 'destroy() while workers start settles at any moment of the start'({ open }) {
    for (let round = 0; round < 10; round++) {
      const pool = open({ minWorkers: 2, maxWorkers: 2 })
      const call = pool.run(1).catch(error => error.code)
      for (let turn = 0; turn < round; turn++) await new Promise(resolve => setImmediate(resolve))
      await pool.destroy()
      assert.ok([1, 'ERR_LIDO_POOL_CLOSED'].includes(await call))
    }
  },

  async 'a worker that exits fails the task that ran there, and the next one runs'({ open }) {
    const pool = open()
    const calls = [pool.run(7, { name: 'exit' }), pool.run(2)]
    const error = await rejection(calls[0])
    assert.equal(error.code, 'ERR_LIDO_WORKER_EXIT')
    assert.deepEqual([error.exitCode, error.signal], [7, null])
    assert.equal(await calls[1], 2)
  },

  async 'a worker that exits just after its answer fails nobody'({ open }) {
    const pool = open()
    for (let round = 0; round < 10; round++) {
      const calls = [1, 2].map(value => pool.run(value, { name: 'answerAndExit' }))
      assert.deepEqual(await Promise.all(calls), [1, 2])
    }
  },

  async 'an answer larger than any pipe is not lost when its worker exits'({ open }) {
    const size = 8 * 2 ** 20
    const result = await open().run(size, { name: 'bigAnswerAndExit' })
    assert.equal(result.byteLength, size)
    assert.equal(result[size - 1], 7)
  },

  async 'a worker that exits fails only its started task'({ open, journal }) {
    const pool = open()
    const calls = Array.from({ length: 5 }, (_, index) =>
      index === 1 ? pool.run(3, { name: 'exit' }) : pool.run(journal.task(index), { name: 'note' }),
    )
    assert.equal((await rejection(calls[1])).exitCode, 3)
    assert.deepEqual(await Promise.all([calls[0], ...calls.slice(2)]), [0, 2, 3, 4])
    assert.deepEqual(journal.written, ['0', '2', '3', '4'])
  },

  async 'an uncaught exception rejects the task that runs, and the pool works on'({ open }) {
    const pool = open()
    const error = await rejection(pool.run(undefined, { name: 'uncaught' }))
    assert.ok(error instanceof RangeError)
    assert.equal(await pool.run(2), 2)
  },

  async 'an exception that a listener of the handler catches ends nothing'({ open }) {
    const pool = open()
    const [{ id }] = pool.workers
    assert.equal(await pool.run('caught', { name: 'caughtByListener' }), 'caught')
    assert.equal(await pool.run(2), 2)
    assert.equal(pool.workers[0].id, id)
  },

  async 'a worker ended by hand fails its task, and the pool works on'({ open, journal }) {
    const pool = open()
    const call = rejection(pool.run({ journal: journal.path }, { name: 'never' }))
    await journal.lines(1)
    await pool.workers[0].terminate()
    assert.equal((await call).code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(pool.stats().tasks.rejected, 1)
  },

  async 'the heap limit ends the task with an error of its own'({ open }) {
    const pool = open({ resourceLimits: { maxOldGenerationSizeMb: 32 } })
    assert.equal((await rejection(pool.run(undefined, { name: 'eat' }))).code, 'ERR_WORKER_OUT_OF_MEMORY')
    assert.equal(await pool.run(2), 2)
  },

  async 'fifteen deaths leave no handle behind'({ open }) {
    const pool = open()
    const count = () => process.getActiveResourcesInfo().length
    await rejection(pool.run(1, { name: 'exit' }))
    await pool.run(1)
    const before = count()
    for (let round = 0; round < 15; round++) {
      assert.equal((await rejection(pool.run(1, { name: 'exit' }))).exitCode, 1)
    }
    await pool.run(1)
    assert.ok(count() <= before, `${count()} handles, ${before} before`)
  },
}
