// One worker. Runs the code of the host and of the worker step by step, in every order of small cases.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBell } from './bell-case.js'
import { oneWorkerCases } from './cases.js'
import type { Findings } from './explorer.js'
import { checkRing } from './ring-case.js'
import { short, testOrders } from './test-orders.js'

testOrders('the lane with one worker', oneWorkerCases)

testCase('the ring returns every record once, in order, also when it wraps around or is full', checkRing)

testCase('a worker misses no wake-up, and starts no task after it was retired or dismissed', checkBell)

function testCase(title: string, check: () => Findings): void {
  test(`${title} (every order)`, t => {
    const { wrong, states, orders } = check()
    assert.ok(wrong === null, `${wrong?.what}, after\n${wrong?.order.join('\n')}`)
    t.diagnostic(`${short(states)} states, ${short(orders)} orders`)
  })
}
