import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from './refusal.js'

const reasons = [new Error('of a kind'), 'a text', 0, null, undefined, { then: () => {} }, Promise.resolve()]

for (const reason of reasons) {
  test(`a promise resolved with a refusal is rejected in the same turn, with ${String(reason)} itself`, async () => {
    const order: string[] = []
    let refuse!: (answer: unknown) => void
    const refused = new Promise(resolve => {
      refuse = resolve
    })
    let given: unknown
    const seen = refused.then(
      () => assert.fail('it was fulfilled'),
      error => {
        given = error
        order.push('refused')
      },
    )
    refuse(new Refusal(reason))
    void Promise.reject(reason).catch(() => order.push('rejected'))
    await seen
    assert.equal(given, reason)
    await null
    assert.deepEqual(order, ['refused', 'rejected'])
  })
}
