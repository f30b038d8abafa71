// Errors and other thrown values of handlers arrive in the host with their type and content.
import assert from 'node:assert/strict'
import { handler } from '../../helpers/handler.js'
import { rejection } from '../../helpers/rejection.js'

export const errors = {
  async 'an error keeps its class, name, code, data, cause and the stack of the worker'({ open }) {
    const pool = open()
    for (const name of ['fail', 'failLater']) {
      const error = await rejection(pool.run('own', { name }))
      assert.ok(error instanceof TypeError)
      assert.deepEqual(
        [error.name, error.message, error.code, error.data],
        ['OwnError', 'not that', 'E_OWN', [1]],
      )
      assert.ok(error.cause instanceof RangeError)
      assert.match(error.stack, /conformant\.js/)
    }
  },

  async 'a result that throws when it is read rejects only its own task'({ open }) {
    const pool = open({ concurrentTasksPerWorker: 2 })
    const neighbour = pool.run(1, { name: 'later' })
    const error = await rejection(pool.run(null, { name: 'trapped' }))
    assert.equal(error.code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.equal(await neighbour, 1)
  },

  async 'an AggregateError arrives with all its errors'({ open }) {
    const error = await rejection(open().run('several', { name: 'fail' }))
    assert.ok(error instanceof AggregateError)
    assert.ok(error.errors[0] instanceof RangeError)
    assert.equal(error.errors[1], 'second')
  },

  async 'a thrown value that is no error arrives unchanged'({ open }) {
    const pool = open()
    assert.equal(await rejection(pool.run('null', { name: 'fail' })), null)
    assert.equal(await rejection(pool.run('a string', { name: 'fail' })), 'a string')
    assert.deepEqual(await rejection(pool.run({ code: 1 }, { name: 'fail' })), { code: 1 })
  },

  async 'a thenable is awaited like a promise, and an error of its then() rejects its task'({ open }) {
    const pool = open({ filename: handler('throwing.js') })
    for (const name of ['thenable', 'thenableTwice', 'promiseWithOwnThen'])
      assert.equal(await pool.run('x', { name }), 'x')
    for (const name of ['thenableThatThrows', 'thenGetterThatThrows']) {
      assert.equal((await rejection(pool.run('from then', { name }))).message, 'from then')
    }
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
    assert.equal(pool.workers[0].id, 1)
  },

  async 'an uncaught exception of a class in errorClasses keeps its class, data and cause'({ open }) {
    class OwnCrash extends Error {}
    const pool = open({ errorClasses: [OwnCrash] })
    const error = await rejection(pool.run(undefined, { name: 'uncaughtOwn' }))
    assert.ok(error instanceof OwnCrash)
    assert.deepEqual([error.message, error.data], ['outside', [1]])
    assert.ok(error.cause instanceof RangeError)
    assert.equal(await pool.run(2), 2)
  },
}
