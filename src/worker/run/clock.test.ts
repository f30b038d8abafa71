import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNeverGoesBack } from '../../testing/steady.js'
import { workerClock } from './clock.js'

test("the worker's clock never goes back", () => assertNeverGoesBack(workerClock))

test("the worker's time plus its origin is not before the time of the system", () => {
  const before = Number(process.hrtime.bigint() - 1000n) / 1e6
  const now = workerClock.origin() + workerClock.now()
  assert.ok(before <= now)
})
