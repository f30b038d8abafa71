// A worker's clock goes as all others do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNeverGoesBack } from '../../testing/steady.js'
import { workerClock } from './clock.js'

test('the clock never goes back', () => assertNeverGoesBack(workerClock))

test('a time is the system’s when its origin is added, whatever the clock counts from', () => {
  const before = Number(process.hrtime.bigint() - 1000n) / 1e6
  const now = workerClock.origin() + workerClock.now()
  assert.ok(before <= now)
})
