// A cancelled task that its worker has, and when the worker is ended for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { ManualClock } from '../../testing/manual-clock.js'
import type { Supervisor } from '../supervisor/supervisor.js'
import type { WorkerHandle } from '../supervisor/worker-handle.js'
import type { Task } from '../task/task.js'
import { Condemned } from './condemned.js'
import type { Road } from './road.js'

function setUp(graceMs: number, isBehind = true) {
  const clock = new ManualClock()
  const at = { isBehind, runs: true, isEnded: false, isAskedToLeave: false, hasOthers: () => false }
  const road = {
    isBehindOthers: () => at.isBehind,
    stillRuns: () => at.runs,
    hasOthers: () => at.hasOthers(),
  } as unknown as Road
  const supervisor = {
    giveUp: () => (at.isEnded = true),
    askToLeave: () => (at.isAskedToLeave = true),
  } as unknown as Supervisor
  const holding = { dismiss() {} }
  const worker = { isReady: true, link: { post() {} }, holding } as unknown as WorkerHandle
  const condemned = new Condemned({ clock, supervisor, road, graceMs, onNone() {} })
  condemned.add(worker, { id: 1, slot: 0 } as Task, new TaskCancelledError('enough'))
  const pass = (milliseconds: number) => {
    for (const until = clock.now() + milliseconds; clock.now() < until; clock.turn()) clock.advance(1)
  }
  return { at, holding, pass }
}

for (const graceMs of [0, 100, 300]) {
  test(`one that stands behind others has its grace from when it begins (${graceMs} ms)`, () => {
    const { at, pass } = setUp(graceMs)
    pass(2000)
    assert.equal(at.isEnded, false, 'it stands behind others')
    at.isBehind = false
    pass(Math.max(graceMs, 100))
    assert.equal(at.isEnded, false, 'it has just begun')
    pass(Math.max(graceMs, 100))
    assert.equal(at.isEnded, true, 'it runs on')
  })
}

test('one that is dropped, or ends in its grace, costs nothing', () => {
  const { at, pass } = setUp(0)
  pass(250)
  at.isBehind = false
  pass(100)
  at.runs = false
  pass(2000)
  assert.equal(at.isEnded, false)
})

test('one that runs is ended for when its grace is over', () => {
  const { at, pass } = setUp(100, false)
  pass(99)
  assert.equal(at.isEnded, false)
  pass(101)
  assert.equal(at.isEnded, true)
})

test('its worker is let finish what it begins until it is dismissed, though it had nothing else before', () => {
  const { at, holding, pass } = setUp(100, false)
  holding.dismiss = () => (at.hasOthers = () => true)
  pass(201)
  assert.deepEqual([at.isEnded, at.isAskedToLeave], [false, true])
})
