import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunTimes } from './run-times.js'

test('of a handler that has not answered nothing is known; the first answer of each is its own', () => {
  const times = new RunTimes()
  times.note(1, 20)
  assert.deepEqual([times.of(1), times.of(2)], [20, Number.POSITIVE_INFINITY])
})

test('a long time is believed at once, short ones little by little', () => {
  const times = new RunTimes()
  times.note(1, 5)
  times.note(1, 80)
  times.note(1, 0)
  assert.equal(times.of(1), 75)
  for (let count = 0; count < 200; count++) times.note(1, 1)
  assert.ok(times.of(1) >= 1 && times.of(1) < 1.001)
  times.note(1, 80)
  assert.equal(times.of(1), 80)
})

test('however many handlers there are, only so many times are kept', () => {
  const times = new RunTimes()
  times.note(2 ** 20, 80)
  assert.equal(times.of(2 ** 20), Number.POSITIVE_INFINITY)
})
