// Whether to wait awake.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Patience } from './patience.js'

function tries(patience: Patience, gaps: number): number {
  return Array.from({ length: gaps }, () => patience.isWorthWaiting()).filter(Boolean).length
}

test('it is worth it until several long gaps in a row, then only now and then', () => {
  const patience = new Patience(1)
  for (let gap = 0; gap < 100; gap++) {
    assert.equal(patience.isWorthWaiting(), true)
    patience.onGap(gap % 7 === 0 ? 1 : 2)
  }
  for (let gap = 0; gap < 20; gap++) patience.onGap(2)
  assert.equal(tries(patience, 160), 10)
})

test('one short gap, slept through or not, and it is worth it again', () => {
  const patience = new Patience(1)
  for (let gap = 0; gap < 20; gap++) patience.onGap(5)
  assert.equal(patience.isWorthWaiting(), false)
  patience.onGap(0.5)
  assert.equal(tries(patience, 10), 10)
})
