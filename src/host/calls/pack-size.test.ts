import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PackSize } from './pack-size.js'

const after = (...runs: [runMs: number, items: number][]) => {
  const size = new PackSize()
  for (const [runMs, items] of runs) size.note(runMs, items)
  return size.items
}

test('items of more than 0.2 ms get a task each', () => {
  assert.equal(new PackSize().items, 1)
  assert.equal(after([0.2, 1]), 1)
  assert.equal(after([5, 1], [5, 1]), 1)
})

test('a pack has four times as many items as a measured one, and 512 at most', () => {
  assert.equal(after([0.001, 1]), 4)
  assert.equal(after([0.001, 1], [0.004, 4]), 16)
  assert.equal(after([0.0001, 1], [0.01, 200], [0.05, 512]), 512)
})

test('a slow first task is soon forgotten, and a slow pack makes the next ones small', () => {
  const slowStart = Array.from({ length: 10 }, (): [number, number] => [0.001, 1])
  assert.equal(after([20, 1], ...slowStart), 4)
  assert.equal(after([0.05, 50], [2, 2]), 1)
})
