import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../testing/manual-clock.js'
import { makeTask } from '../../testing/stand-ins.js'
import type { Limits } from './call.js'
import { type Progress, TimeLimits } from './time-limits.js'

const never = Number.POSITIVE_INFINITY

function setUp(progress: Progress, limits: Partial<Limits>) {
  const clock = new ManualClock()
  const told: string[] = []
  const watcher = new TimeLimits({
    clock,
    progressOf: () => progress,
    cancel(task, error) {
      told.push(error.limit)
      task.state = 'settled'
    },
  })
  const all = { timeoutMs: never, queueTimeoutMs: never, deadline: never, ...limits }
  watcher.watch(makeTask(1), all)
  return { clock, told }
}

function pass(clock: ManualClock, milliseconds: number): void {
  for (let count = 0; count < milliseconds; count++) {
    clock.advance(1)
    clock.turn()
  }
}

test('timeout and queueTimeout do not cancel a task whose result is being decoded', () => {
  const { clock, told } = setUp('decoding', { timeoutMs: 10, queueTimeoutMs: 10 })
  pass(clock, 3000)
  assert.deepEqual(told, [])
})

test('the deadline cancels a task whose result is being decoded', () => {
  const clock = new ManualClock()
  const { clock: own, told } = setUp('decoding', { timeoutMs: 10, deadline: clock.epochNow() + 2500 })
  pass(own, 1000)
  assert.deepEqual(told, [])
  pass(own, 2000)
  assert.deepEqual(told, ['deadline'])
})

for (const [limits, expected] of [
  [{ timeoutMs: 10 }, 'timeout'],
  [{ queueTimeoutMs: 10 }, 'queueTimeout'],
] as const) {
  test(`${expected} cancels an unstarted task that the host cannot take back from its worker`, () => {
    const { clock, told } = setUp({ sentAt: new ManualClock().now() }, limits)
    pass(clock, 12)
    assert.deepEqual(told, [expected])
  })
}

for (const [limits, limit] of [
  [{ timeoutMs: 1000 }, 'timeout'],
  // The task was created 1000 ms before.
  [{ queueTimeoutMs: 2000 }, 'queueTimeout'],
] as const) {
  test(`${limit} does not count time in which the whole program was stopped`, () => {
    const { clock, told } = setUp({ sentAt: new ManualClock().now() }, limits)
    pass(clock, 300)
    clock.cpuMs = 300
    clock.stall(5000)
    clock.turn()
    assert.deepEqual(told, [])
    pass(clock, 400)
    assert.deepEqual(told, [])
    pass(clock, 400)
    assert.deepEqual(told, [limit])
  })

  test(`${limit} counts time in which the program was busy`, () => {
    const { clock, told } = setUp({ sentAt: new ManualClock().now() }, limits)
    pass(clock, 300)
    clock.stall(5000)
    clock.turn()
    assert.deepEqual(told, [limit])
  })
}

test('all time limits share one timer, which is set again only for an earlier limit', () => {
  const clock = new ManualClock()
  let timersSet = 0
  const { after } = clock
  clock.after = (...given) => {
    timersSet++
    return after.apply(clock, given)
  }
  const watcher = new TimeLimits({ clock, progressOf: () => 'unstarted', cancel() {} })
  const watch = (delayMs: number) => {
    const task = makeTask(1)
    const queueTimeoutMs = clock.now() - task.createdAt + delayMs
    return watcher.watch(task, { timeoutMs: never, queueTimeoutMs, deadline: never })
  }
  const entries = [100, 100, 200, never].map(watch)
  assert.deepEqual([clock.pending, timersSet], [[100], 1])
  entries.push(watch(50), watch(50))
  assert.deepEqual([clock.pending, timersSet], [[50], 2])
  for (const entry of entries) {
    entry.task.state = 'settled'
    watcher.release(entry)
  }
  pass(clock, 60)
  assert.deepEqual([clock.pending, timersSet], [[], 2])
})
