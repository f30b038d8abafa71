import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../testing/manual-clock.js'
import type { WorkerLink } from '../backend/backend.js'
import { WorkerExit } from './worker-exit.js'

function setUp(mayBeLoading: boolean) {
  const clock = new ManualClock()
  let isKilled = false
  const link = { kind: 'thread', post() {}, terminate: () => (isKilled = true) } as unknown as WorkerLink
  const worker = { id: 1, link, life: 'killed' as const, mayBeLoading, hasTeardown: false }
  const exit = new WorkerExit(worker, clock, 1000, { onError: assert.fail })
  const isKilledAfter = (delayMs: number) => {
    clock.advance(delayMs)
    clock.turn()
    return isKilled
  }
  return { exit, isKilledAfter }
}

test('a worker that is asked to exit is killed after 100 ms, and one that is loading a file after 1 s', () => {
  for (const [mayBeLoading, graceMs] of [
    [false, 100],
    [true, 1000],
  ] as const) {
    const { exit, isKilledAfter } = setUp(mayBeLoading)
    exit.ask()
    assert.deepEqual([isKilledAfter(graceMs - 1), isKilledAfter(1)], [false, true])
  }
})

test('a second request gives a loading worker no more time, and a worker that has exited is not killed', () => {
  const { exit, isKilledAfter } = setUp(true)
  exit.ask()
  assert.equal(isKilledAfter(999), false)
  exit.ask()
  assert.equal(isKilledAfter(1), true)

  const other = setUp(true)
  other.exit.ask()
  other.exit.end()
  assert.equal(other.isKilledAfter(2000), false)
})
