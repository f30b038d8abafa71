// One worker: the real host and the real worker, step by step, in every order of small cases.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBell } from './bell-case.js'
import { oneWorkerCases } from './cases.js'
import type { Findings } from './explorer.js'
import { checkRing } from './ring-case.js'
import { short, testOrders } from './test-orders.js'

testOrders('one worker answers every task once, in order, and both sides miss no wake-up', oneWorkerCases)

testCase('the ring gives every record once, in order, also when it wraps around or is full', checkRing)

testCase(
  'a worker misses no wake-up, claims nothing when it is retired, and starts no task that it claims when it is dismissed',
  checkBell,
)

function testCase(promise: string, check: () => Findings): void {
  test(`${promise} (every order)`, t => {
    const { wrong, states, orders } = check()
    assert.ok(wrong === null, `${wrong?.what}, after\n${wrong?.order.join('\n')}`)
    t.diagnostic(`${short(states)} states, ${short(orders)} orders`)
  })
}
