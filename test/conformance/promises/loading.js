// Files that do not load, and names that lead nowhere.
import assert from 'node:assert/strict'
import { rejection, rejections } from '../../helpers/rejection.js'

export const loading = {
  async 'a file that throws rejects every call with what it threw'({ open, journal }) {
    const filename = journal.write('throws.mjs', `throw new RangeError('at load')`)
    const pool = open({ filename })
    for (const error of await rejections([pool.run(1), pool.run(2)])) {
      assert.equal(error.code, 'ERR_LIDO_WORKER_START')
      assert.equal(error.stage, 'load')
      assert.ok(error.cause instanceof RangeError)
    }
  },

  async 'a syntax error is told'({ open, journal }) {
    const error = await rejection(open({ filename: journal.write('odd.mjs', 'export default (') }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(error.cause.name, 'SyntaxError')
  },

  async 'a file that is not there is told'({ open, journal }) {
    const filename = journal.write('there.mjs', '').replace('there', 'not-there')
    const error = await rejection(open({ filename }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.match(error.message, /There is no file/)
  },

  async 'a file that ends its worker while it is loaded rejects the calls'({ open, journal }) {
    const filename = journal.write('exits.mjs', 'process.exit(3)')
    const error = await rejection(open({ filename }).run(1))
    assert.equal(error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(error.cause.exitCode, 3)
  },

  async 'another pool of the same file may be made while the first one loads it'({ open, journal }) {
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

  async 'a name that is not exported rejects that call, and its worker lives on'({ open }) {
    const pool = open()
    const [{ id }] = pool.workers
    const error = await rejection(pool.run(1, { name: 'nowhere' }))
    assert.equal(error.stage, 'handler')
    assert.equal(await pool.run(2), 2)
    assert.equal(pool.workers[0].id, id)
  },

  async 'a call with a file of its own that does not load fails alone'({ open, journal }) {
    const pool = open()
    const filename = journal.write('throws.mjs', `throw new RangeError('at load')`)
    assert.equal((await rejection(pool.run(1, { filename }))).stage, 'load')
    assert.equal(await pool.run(2), 2)
  },

  async 'a call whose own file ends the worker is told that it was loading'({ open, journal }) {
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
