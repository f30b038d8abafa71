// Creates a test for each case. In every order, each task must settle once and start in its turn, and no thread may miss a
// wake-up. The test reports the number of explored states and orders.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { check } from './check.js'
import type { Plan } from './plan.js'

export function testOrders(unit: string, cases: readonly Plan[]): void {
  const total = { states: 0, orders: 0, seconds: 0 }
  describe(unit, () => {
    for (const plan of cases) {
      test(`${plan.title} (${boundOf(plan)})`, t => {
        const { wrong, states, orders, steps, ends, seconds } = check(plan)
        assert.ok(wrong === null, `${wrong?.what}, after\n${wrong?.order.join('\n')}`)
        assert.ok(ends > 0, 'at least one order must end')
        total.states += states
        total.orders += orders
        total.seconds += seconds
        t.diagnostic(
          `${short(states)} states, ${short(orders)} orders of up to ${steps} steps, ${seconds.toFixed(1)} s`,
        )
      })
    }
    after(() => {
      console.log(
        `${short(total.states)} states for ${short(total.orders)} orders in ${total.seconds.toFixed(1)} s`,
      )
    })
  })
}

function boundOf({ switches }: Plan): string {
  if (switches === undefined) return 'every order'
  return `every order with at most ${switches} interruption${switches === 1 ? '' : 's'}`
}

export function short(count: number): string {
  return count < 1e6 ? String(count) : count.toExponential(1)
}
