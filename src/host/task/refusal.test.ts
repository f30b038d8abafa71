import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from './refusal.js'

const reasons = [new Error('of a kind'), 'a text', 0, null, undefined, { then: () => {} }, Promise.resolve()]

for (const reason of reasons) {
  test(`a promise resolved with a refusal is rejected with ${String(reason)} itself, a microtask later`, async () => {
    const told: unknown[] = []
    const promise = new Promise(resolve => resolve(new Refusal(reason)))
    promise.then(
      () => assert.fail('it was fulfilled'),
      error => told.push(error),
    )
    await null
    assert.deepEqual(told, [])
    await null
    assert.equal(told.length, 1)
    assert.equal(told[0], reason)
  })
}
