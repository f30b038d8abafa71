// Cancelled tasks, closed pools and exiting workers.
import assert from 'node:assert/strict'
import { rejection } from '../../helpers/rejection.js'

export const endings = {
  async 'a task with an aborted signal rejects and never runs'({ open, journal }) {
    const pool = open()
    const error = await rejection(
      pool.run(journal.task('never'), { name: 'note', signal: AbortSignal.abort('no') }),
    )
    assert.equal(error.name, 'AbortError')
    assert.equal(error.reason, 'no')
    await pool.run(1)
    assert.deepEqual(journal.written, [])
  },

  async 'a cancelled queued task never runs'({ open, journal }) {
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

  async 'cancelQueued() rejects the tasks without a slot, and no other task'({ open, journal }) {
    const pool = open()
    const first = pool.run(journal.task('first'), { name: 'gated' })
    await journal.lines(1)
    const calls = ['second', 'third'].map(name => rejection(pool.run(journal.task(name), { name: 'note' })))
    assert.equal(pool.queueSize, 2)
    pool.cancelQueued('changed')
    assert.equal(pool.queueSize, 0)
    for (const { code, message, reason } of await Promise.all(calls)) {
      assert.deepEqual([code, reason], ['ERR_LIDO_TASK_CANCELLED', 'changed'])
      assert.equal(message, 'The task was cancelled: cancelQueued() was called.')
    }
    journal.open()
    assert.equal(await first, 'first')
    assert.equal(await pool.run(1), 1)
    assert.deepEqual(journal.written, ['first'])
  },

  async 'a cancelled running task rejects at once, and the next task runs'({ open, journal }) {
    const pool = open()
    const controller = new AbortController()
    const call = rejection(pool.run({ journal: journal.path }, { name: 'spin', signal: controller.signal }))
    await journal.lines(1)
    controller.abort()
    assert.equal((await call).name, 'AbortError')
    assert.equal(await pool.run(2), 2)
  },

  async 'close() runs accepted tasks and refuses new tasks'({ open, journal }) {
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

  async 'destroy() rejects running and queued tasks'({ open, journal }) {
    const pool = open()
    const calls = [
      pool.run({ journal: journal.path }, { name: 'never' }),
      pool.run(journal.task('waiting'), { name: 'note' }),
    ].map(rejection)
    await journal.lines(1)
    await Promise.all([pool.destroy(), pool.destroy()])
    for (const error of await Promise.all(calls)) assert.equal(error.reason, 'destroyed')
    assert.deepEqual(journal.written, ['started'])
  },

  async 'destroy() settles at any time during the start of the workers'({ open }) {
    for (let round = 0; round < 10; round++) {
      const pool = open({ minWorkers: 2, maxWorkers: 2 })
      const call = pool.run(1).catch(error => error.code)
      for (let turn = 0; turn < round; turn++) await new Promise(resolve => setImmediate(resolve))
      await pool.destroy()
      assert.ok([1, 'ERR_LIDO_POOL_CLOSED'].includes(await call))
    }
  },

  async 'a worker exit rejects the running task, and the next task runs'({ open }) {
    const pool = open()
    const calls = [pool.run(7, { name: 'exit' }), pool.run(2)]
    const error = await rejection(calls[0])
    assert.equal(error.code, 'ERR_LIDO_WORKER_EXIT')
    assert.deepEqual([error.exitCode, error.signal], [7, null])
    assert.equal(await calls[1], 2)
  },

  async 'a worker that exits right after its answer rejects no task'({ open }) {
    const pool = open()
    for (let round = 0; round < 10; round++) {
      const calls = [1, 2].map(value => pool.run(value, { name: 'answerAndExit' }))
      assert.deepEqual(await Promise.all(calls), [1, 2])
    }
  },

  async 'an 8 MiB answer arrives although its worker exits right after it'({ open }) {
    const size = 8 * 2 ** 20
    const result = await open().run(size, { name: 'bigAnswerAndExit' })
    assert.equal(result.byteLength, size)
    assert.equal(result[size - 1], 7)
  },

  async 'a worker exit rejects only its started task, and the other tasks run in order'({ open, journal }) {
    const pool = open()
    const calls = Array.from({ length: 5 }, (_, index) =>
      index === 1 ? pool.run(3, { name: 'exit' }) : pool.run(journal.task(index), { name: 'note' }),
    )
    assert.equal((await rejection(calls[1])).exitCode, 3)
    assert.deepEqual(await Promise.all([calls[0], ...calls.slice(2)]), [0, 2, 3, 4])
    assert.deepEqual(journal.written, ['0', '2', '3', '4'])
  },

  async 'an uncaught exception rejects the running task, and the pool keeps working'({ open }) {
    const pool = open()
    const error = await rejection(pool.run(undefined, { name: 'uncaught' }))
    assert.ok(error instanceof RangeError)
    assert.equal(await pool.run(2), 2)
  },

  async 'an exception that an uncaughtException listener catches does not end the worker'({ open }) {
    const pool = open()
    const [{ id }] = pool.workers
    assert.equal(await pool.run('caught', { name: 'caughtByListener' }), 'caught')
    assert.equal(await pool.run(2), 2)
    assert.equal(pool.workers[0].id, id)
  },

  async 'terminate() of a worker rejects its running task'({ open, journal }) {
    const pool = open()
    const call = rejection(pool.run({ journal: journal.path }, { name: 'never' }))
    await journal.lines(1)
    await pool.workers[0].terminate()
    assert.equal((await call).code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(pool.stats().tasks.rejected, 1)
  },

  async 'a task that reaches the heap limit rejects with ERR_WORKER_OUT_OF_MEMORY'({ open }) {
    const pool = open({ resourceLimits: { maxOldGenerationSizeMb: 32 } })
    assert.equal((await rejection(pool.run(undefined, { name: 'eat' }))).code, 'ERR_WORKER_OUT_OF_MEMORY')
    assert.equal(await pool.run(2), 2)
  },

  async 'fifteen worker exits leave no handle open'({ open }) {
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
