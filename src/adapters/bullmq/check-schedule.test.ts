import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CheckSchedule, newEntry, type ScheduleEntry } from './check-schedule.js'

const create = () => new CheckSchedule<ScheduleEntry>([10, 20, 50])

test('an entry waits longer each time, and then equally long', () => {
  const schedule = create()
  const entry = newEntry()
  const waited: number[] = []
  let now = 0
  schedule.restart(entry, now)
  for (let time = 0; time < 5; time++) {
    waited.push(schedule.nextAt - now)
    assert.deepEqual(schedule.take(schedule.nextAt - 1, 9), [])
    now = schedule.nextAt
    assert.deepEqual(schedule.take(now, 9), [entry])
    schedule.postpone(entry, now)
  }
  assert.deepEqual(waited, [10, 20, 50, 50, 50])
})

test('take() returns the entries that an event made due before those of the schedule, and no more than asked for', () => {
  const schedule = create()
  const entries = Array.from({ length: 5 }, newEntry)
  for (const entry of entries) schedule.restart(entry, 0)
  const [first, second, third, fourth, fifth] = entries
  schedule.makeDue(fourth!)
  assert.ok(schedule.hasDue)
  assert.deepEqual(schedule.take(100, 3), [fourth, first, second])
  assert.ok(!schedule.hasDue)
  schedule.delete(third!)
  assert.deepEqual(schedule.take(100, 3), [fifth])
  assert.equal(schedule.nextAt, Number.POSITIVE_INFINITY)
})

test('an entry that an event made due while it was taken stays due', () => {
  const schedule = create()
  const entry = newEntry()
  schedule.restart(entry, 0)
  schedule.take(10, 1)
  schedule.makeDue(entry)
  schedule.postpone(entry, 10)
  assert.deepEqual(schedule.take(0, 1), [entry])
})

test('a restarted entry begins again with the first distance', () => {
  for (const isDue of [false, true]) {
    const schedule = create()
    const entry = newEntry()
    schedule.restart(entry, 0)
    schedule.take(10, 1)
    schedule.postpone(entry, 10)
    if (isDue) schedule.makeDue(entry)
    schedule.restart(entry, 100)
    if (isDue) {
      assert.deepEqual(schedule.take(0, 1), [entry])
      schedule.postpone(entry, 100)
    }
    assert.equal(schedule.nextAt, 110)
  }
})
