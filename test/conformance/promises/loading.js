// Files that do not load, and handler names that do not exist.
import assert from 'node:assert/strict'
import { rejection, rejections } from '../../helpers/rejection.js'

export const loading = {
  async 'a file that throws at load rejects every call, with the thrown error as cause'({ open, journal }) {
    const filename = journal.write('throws.mjs', `throw new RangeError('at load')`)
    const pool = open({ filename })
    for (const error of await rejections([pool.run(1), pool.run(2)])) {
      assert.equal(error.code, 'ERR_LIDO_WORKER_START')
      assert.equal(error.stage, 'load')
      assert.ok(error.cause instanceof RangeError)
    }
  },

  async 'a file that does not parse rejects the call, with the SyntaxError as cause'({ open, journal }) {
    const error = await rejection(open({ filename: journal.write('odd.mjs', 'export default (') }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(error.cause.name, 'SyntaxError')
  },

  async 'a missing file rejects the call with an error that says so'({ open, journal }) {
    const filename = journal.write('there.mjs', '').replace('there', 'not-there')
    const error = await rejection(open({ filename }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.match(error.message, /There is no file/)
  },

  async 'a file that exits its worker at load rejects the call'({ open, journal }) {
    const filename = journal.write('exits.mjs', 'process.exit(3)')
    const error = await rejection(open({ filename }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(error.cause.exitCode, 3)
  },

  async 'a second pool of the same file works while the first pool loads the file'({ open, journal }) {
    const filename = journal.write(
      'slow.mjs',
      `import { appendFileSync } from 'node:fs'
       appendFileSync(${JSON.stringify(journal.path)}, 'loading\\n')
       await new Promise(resolve => setTimeout(resolve, 100))
       export default value => value`,
    )
    const first = open({ filename }).run(1)
    await journal.lines(1)
    assert.equal(await open({ filename }).run(2), 2)
    assert.equal(await first, 1)
  },

  async 'a handler name that is not exported rejects its call and keeps the worker'({ open }) {
    const pool = open()
    const [{ id }] = pool.workers
    const error = await rejection(pool.run(1, { name: 'nowhere' }))
    assert.equal(error.stage, 'handler')
    assert.equal(await pool.run(2), 2)
    assert.equal(pool.workers[0].id, id)
  },

  async 'a call whose own file does not load rejects alone'({ open, journal }) {
    const pool = open()
    const filename = journal.write('throws.mjs', `throw new RangeError('at load')`)
    assert.equal((await rejection(pool.run(1, { filename }))).stage, 'load')
    assert.equal(await pool.run(2), 2)
  },

  async "a call whose own file exits the worker rejects with stage 'load'"({ open, journal }) {
    const pool = open()
    const filename = journal.write('exits.mjs', 'process.exit(3)')
    const error = await rejection(pool.run(1, { filename }))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(error.stage, 'load')
    assert.equal(await pool.run(2), 2)
  },

  async 'a pool whose file never finishes loading can be destroyed'({ open, journal }) {
    const filename = journal.write('waits.mjs', 'await new Promise(() => {}); export default 1')
    const pool = open({ filename })
    const call = rejection(pool.run(1))
    await pool.destroy()
    assert.equal((await call).code, 'ERR_LIDO_POOL_CLOSED')
  },
}
