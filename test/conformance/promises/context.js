// A handler gets one argument, and imports the `context` of its task from `lido/worker`.
import assert from 'node:assert/strict'
import { context } from 'lido/worker'
import { handler } from '../../helpers/handler.js'
import { rejection } from '../../helpers/rejection.js'

const outsideTask = {
  code: 'ERR_LIDO_OUTSIDE_TASK',
  message:
    "'context' of lido/worker was used outside a task. Use it in a handler or in code that a handler calls, and import lido/worker at the top of the handler's file.",
}
const patient = { cancelGrace: Number.POSITIVE_INFINITY }

export const contexts = {
  ...promisesOf('context.js', 'ES module'),
  ...promisesOf('context.cjs', 'CommonJS'),

  async 'the ES module and CommonJS copies of lido/worker share the context'({ open }) {
    const pool = open({ filename: handler('context.js') })
    assert.equal(await pool.run(undefined, { name: 'isSharedByCopies' }), true)
  },

  async 'context throws ERR_LIDO_OUTSIDE_TASK in the host, during a task and after it'({ open, journal }) {
    const pool = open({ filename: handler('context.js') })
    const call = pool.run(journal.task('task'), { name: 'watch' })
    assert.throws(() => context.signal, outsideTask)
    await journal.lines(1)
    assert.throws(() => context.cancelled, outsideTask)
    journal.open()
    await call
    assert.throws(() => context.throwIfCancelled(), outsideTask)
  },
}

function promisesOf(file, format) {
  const filename = handler(file)
  return {
    async [`a handler gets the payload and no other argument (${format})`]({ open }) {
      const pool = open({ filename })
      assert.equal(await pool.run('payload', { name: 'count' }), 1)
      assert.equal(await pool.run(undefined, { name: 'count' }), 1)
    },

    async [`the default of a handler's second parameter applies (${format})`]({ open }) {
      assert.equal(await open({ filename }).run(2, { name: 'scale' }), 20)
    },

    async [`a handler in a synchronous loop sees its cancellation (${format})`]({ open, journal }) {
      const pool = open({ filename, ...patient })
      const controller = new AbortController()
      const { signal } = controller
      const call = rejection(pool.run({ journal: journal.path }, { name: 'loop', signal }))
      await journal.lines(1)
      controller.abort()
      await call
      assert.deepEqual(await journal.lines(2), ['started', 'AbortError'])
    },

    async [`two tasks of a worker see their own contexts after an await (${format})`]({ open, journal }) {
      const pool = open({ filename, concurrentTasksPerWorker: 2, ...patient })
      const controller = new AbortController()
      const { signal } = controller
      const first = rejection(pool.run(journal.task('first', 'end'), { name: 'watch', signal }))
      const second = pool.run(journal.task('second', 'end'), { name: 'watch' })
      await journal.lines(2)
      controller.abort('enough')
      assert.equal((await first).reason, 'enough')
      const lines = await journal.lines(3)
      journal.open('end')
      assert.equal(await second, false)
      assert.deepEqual(lines, ['first started', 'second started', 'first true enough enough'])
      assert.deepEqual(journal.written, lines)
    },

    async [`an abort listener sees the context of its task (${format})`]({ open, journal }) {
      const pool = open({ filename, ...patient })
      const controller = new AbortController()
      const { signal } = controller
      const call = rejection(pool.run(journal.task('listener'), { name: 'listen', signal }))
      await journal.lines(1)
      controller.abort('enough')
      await call
      assert.deepEqual(await journal.lines(2), ['listener started', 'listener true enough'])
    },

    async [`a timer of an answered task keeps the context of that task (${format})`]({ open, journal }) {
      const pool = open({ filename, ...patient })
      await pool.run(journal.task('timer', 'timer'), { name: 'leaveTimer' })
      const controller = new AbortController()
      const { signal } = controller
      const later = rejection(pool.run(journal.task('later', 'end'), { name: 'watch', signal }))
      await journal.lines(2)
      controller.abort('enough')
      await later
      await journal.lines(3)
      journal.open('timer')
      const [, ...lines] = await journal.lines(4)
      journal.open('end')
      assert.deepEqual(lines, ['later started', 'later true enough enough', 'timer false true'])
    },

    async [`context throws ERR_LIDO_OUTSIDE_TASK at the top level of a module and in its timers (${format})`]({
      open,
    }) {
      const failures = await open({ filename }).run(undefined, { name: 'outside' })
      assert.deepEqual(failures, [outsideTask, outsideTask])
    },
  }
}
