// An assertion for all clocks.
import assert from 'node:assert/strict'

export function assertNeverGoesBack(clock: { now(): number }): void {
  let last = clock.now()
  for (let reads = 0; reads < 1000; reads++) {
    const now = clock.now()
    assert.ok(now >= last)
    last = now
  }
}
