// `context.call()`: a handler calls the functions that its caller gave.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidTaskError, TaskCancelledError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { reached, sharedWords } from '../helpers/shared-words.js'

const filename = handler('streaming.js')
const ids = [1, 2, 3]

for (const [title, options] of Object.entries(backends)) {
  test(`calls get their results, one by one and together, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const functions = { lookUp: async id => ({ id, map: new Map([[id, 1n]]) }) }
    const due = ids.map(id => ({ id, map: new Map([[id, 1n]]) }))
    for (const name of ['lookUp', 'callTogether']) {
      assert.deepEqual(await pool.run(ids, { name, functions }), due)
    }
    assert.deepEqual(await pool.with({ functions }).api.lookUp(ids), due)
    assert.deepEqual(await pool.map([[1]], { name: 'lookUp', functions }).toArray(), [[due[0]]])
  })

  test(`errors of functions keep their class and code on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const fail = n => {
      throw Object.assign(new RangeError(`${n} is wrong`), { code: 'E_WRONG' })
    }
    const outcome = functions => pool.run(0, { name: 'callErrors', functions })
    assert.deepEqual(await outcome({ fail }), ['RangeError', '7 is wrong', 'E_WRONG'])
    assert.deepEqual(await outcome({ fail: async n => fail(n) }), ['RangeError', '7 is wrong', 'E_WRONG'])
    for (const functions of [undefined, { other: () => 1 }]) {
      const [name, message] = await outcome(functions)
      assert.equal(name, 'TypeError')
      assert.match(message, /'fail'.*functions/)
    }
    const [, message] = await outcome({ fail: () => () => {} })
    assert.match(message, /result cannot be sent/)
    assert.equal(
      await pool.run(0, { name: 'callFunction', functions: { lookUp: Boolean } }),
      'DataCloneError',
    )
  })

  test(`a cancelled task's call rejects in the handler on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const controller = new AbortController()
    const words = sharedWords(2)
    const isCalled = Promise.withResolvers?.() ?? deferred()
    const functions = {
      wait: () => {
        isCalled.resolve()
        return new Promise(() => {})
      },
    }
    const payload = options.backend === 'process' ? { words: new Int32Array(2) } : { words }
    const call = pool.run(payload, { name: 'callThenReport', functions, signal: controller.signal })
    await isCalled.promise
    controller.abort()
    assert.ok((await rejection(call)) instanceof TaskCancelledError)
    if (options.backend !== 'process') assert.equal(await reached(words, 1), 2)
    assert.equal(await pool.run(4, { name: 'double' }), 8)
    assert.equal(pool.workers[0].id, 1)
  })

  test(`a handler that does not wait for its call ends without it on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    let answer
    const functions = {
      lookUp: () =>
        new Promise(resolve => {
          answer = resolve
        }),
    }
    assert.equal(await pool.run(0, { name: 'callWithoutAwait', functions }), 'done')
    answer?.(1)
    assert.equal(await pool.run(4, { name: 'double' }), 8)
    await pool.close()
  })
}

test('functions run in the async context of the caller', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const storage = new AsyncLocalStorage()
  const functions = { lookUp: () => storage.getStore() }
  const call = () => pool.run([1], { name: 'lookUp', functions })
  assert.deepEqual(await storage.run('request 1', call), ['request 1'])
})

test('an object that holds no functions is refused', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const functions of [1, { lookUp: 1 }, () => {}]) {
    const error = await rejection(pool.run(0, { name: 'double', functions }))
    assert.ok(error instanceof InvalidTaskError)
    assert.equal(error.option, 'functions')
  }
})

function deferred() {
  const made = {}
  made.promise = new Promise(resolve => {
    made.resolve = resolve
  })
  return made
}
