// The lane keeps its promises in every order of small cases: the real host and the real workers, step by step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBell } from './bell-case.js'
import { oneWorkerCases } from './cases.js'
import type { Findings } from './explorer.js'
import { checkRing } from './ring-case.js'
import { short, testOrders } from './test-orders.js'

testOrders(
  'one worker: every task is answered once, in order, and nobody sleeps through anything',
  oneWorkerCases,
)

testCase('the ring gives every record once, in order, also where it starts over and is full', checkRing)

testCase(
  'a worker sleeps through nothing, claims nothing once retired, and begins nothing that it claims once dismissed',
  checkBell,
)

function testCase(promise: string, check: () => Findings): void {
  test(`${promise} (every order)`, t => {
    const { wrong, states, orders } = check()
    assert.ok(wrong === null, `${wrong?.what}, after\n${wrong?.order.join('\n')}`)
    t.diagnostic(`${short(states)} states, ${short(orders)} orders`)
  })
}
