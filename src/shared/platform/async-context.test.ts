import assert from 'node:assert/strict'
import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks'
import { test } from 'node:test'
import { AsyncContext, withoutCaller } from './async-context.js'

const storage = new AsyncLocalStorage<string>()
const seen = () => storage.getStore()

test('AsyncContext.run() restores the store of its creation, and withoutCaller() runs without a store', () => {
  const maker = storage.run('maker', () => new AsyncContext('test'))
  storage.run('caller', () => {
    assert.equal(maker.run(seen), 'maker')
    assert.equal(withoutCaller(seen), undefined)
    assert.equal(seen(), 'caller')
  })
})

test('withoutCaller() rethrows an error of its callback and restores the async context', () => {
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
