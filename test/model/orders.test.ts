// The lane keeps its promises in every order of small cases: the real host and the real workers, step by step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneWorkerCases } from './cases.js'
import { checkRing } from './ring-case.js'
import { short, testOrders } from './test-orders.js'

testOrders(
  'one worker: every task is answered once, in order, and nobody sleeps through anything',
  oneWorkerCases,
)

test('the ring gives every record once, in order, also where it starts over and is full (every order)', t => {
  const { wrong, states, orders } = checkRing()
  assert.ok(wrong === null, `${wrong?.what}, after\n${wrong?.order.join('\n')}`)
  t.diagnostic(`${short(states)} states, ${short(orders)} orders`)
})
