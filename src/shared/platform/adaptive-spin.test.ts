import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdaptiveSpin } from './adaptive-spin.js'

function tries(patience: AdaptiveSpin, gaps: number): number {
  return Array.from({ length: gaps }, () => patience.shouldSpin()).filter(Boolean).length
}

test('shouldSpin() is true until several long gaps in a row, then for 1 gap in 16', () => {
  const patience = new AdaptiveSpin(1)
  for (let gap = 0; gap < 100; gap++) {
    assert.equal(patience.shouldSpin(), true)
    patience.onGap(gap % 7 === 0 ? 1 : 2)
  }
  for (let gap = 0; gap < 20; gap++) patience.onGap(2)
  assert.equal(tries(patience, 160), 10)
})

test('shouldSpin() is true again after a single short gap', () => {
  const patience = new AdaptiveSpin(1)
  for (let gap = 0; gap < 20; gap++) patience.onGap(5)
  assert.equal(patience.shouldSpin(), false)
  patience.onGap(0.5)
  assert.equal(tries(patience, 10), 10)
})
