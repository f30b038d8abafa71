// The async context in which callbacks run.
import assert from 'node:assert/strict'
import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks'
import { test } from 'node:test'
import { AsyncContext, withoutCaller } from './async-context.js'

const storage = new AsyncLocalStorage<string>()
const seen = () => storage.getStore()

test('a callback sees what was stored where its context was made, or nothing of its caller', () => {
  const maker = storage.run('maker', () => new AsyncContext('test'))
  storage.run('caller', () => {
    assert.equal(maker.run(seen), 'maker')
    assert.equal(withoutCaller(seen), undefined)
    assert.equal(seen(), 'caller')
  })
})

test('an error of a callback is thrown, and the context ends', () => {
  const id = executionAsyncId()
  const failure = new TypeError('its own')
  assert.throws(
    () =>
      withoutCaller(() => {
        throw failure
      }),
    failure,
  )
  assert.equal(executionAsyncId(), id)
})
