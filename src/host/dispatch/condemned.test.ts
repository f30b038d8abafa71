// A cancelled task that its worker has, and when the worker is ended for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TaskCancelledError, TaskTimeoutError } from '../../shared/errors/pool-errors.js'
import { type PackedThrown, unpack } from '../../shared/errors/remote-error.js'
import { ManualClock } from '../../testing/manual-clock.js'
import type { BackendKind } from '../backend/backend-kind.js'
import type { Task } from '../task/task.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { Condemned } from './condemned.js'
import type { Road } from './road.js'

interface Traits {
  isBehind?: boolean
  error?: TaskCancelledError
  hasOthers?: boolean
  kind?: BackendKind
  /** The first message cannot be sent. */
  isRefused?: boolean
}

function setUp(
  graceMs: number,
  {
    isBehind = true,
    error = new TaskCancelledError('enough'),
    hasOthers = false,
    kind = 'thread',
    isRefused = false,
  }: Traits = {},
) {
  const clock = new ManualClock()
  const at = { isBehind, runs: true, isEnded: false, isAskedToLeave: false, hasOthers: () => hasOthers }
  const road = {
    isBehindOthers: () => at.isBehind,
    stillRuns: () => at.runs,
    hasOthers: () => at.hasOthers(),
  } as unknown as Road
  const supervisor = {
    giveUp: () => {
      at.isEnded = true
      condemned.forget(worker)
    },
    askToLeave: () => (at.isAskedToLeave = true),
  } as unknown as Supervisor
  const holding = { dismiss() {} }
  const told: { kind: string; reason?: PackedThrown }[] = []
  const post = (message: { kind: string }) => {
    if (isRefused) {
      isRefused = false
      throw new Error('not cloneable')
    }
    told.push(message)
  }
  const worker = { isReady: true, link: { kind, post }, holding } as unknown as WorkerHandle
  const condemned = new Condemned({ clock, supervisor, road, graceMs, onNone() {} })
  let lastId = 0
  const add = () => condemned.add(worker, { id: ++lastId, slot: 0 } as Task, error)
  add()
  const pass = (milliseconds: number) => {
    for (const until = clock.now() + milliseconds; clock.now() < until; clock.turn()) clock.advance(1)
  }
  return { at, add, told, holding, pass }
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
  const { at, pass } = setUp(100, { isBehind: false })
  pass(99)
  assert.equal(at.isEnded, false)
  pass(101)
  assert.equal(at.isEnded, true)
})

test('its worker is let finish what it begins until it is dismissed, though it had nothing else before', () => {
  const { at, holding, pass } = setUp(100, { isBehind: false })
  holding.dismiss = () => (at.hasOthers = () => true)
  pass(201)
  assert.deepEqual([at.isEnded, at.isAskedToLeave], [false, true])
})

test('one that began since it was cancelled has its grace once more', () => {
  const { at, pass } = setUp(300)
  pass(150)
  at.isBehind = false
  pass(160)
  assert.equal(at.isEnded, false)
  pass(300)
  assert.equal(at.isEnded, true)
})

test('without a grace its worker is ended untold; one that no end stops is told first', () => {
  for (const kind of ['thread', 'inline'] as const) {
    const { at, told, pass } = setUp(0, { isBehind: false, kind })
    const isInline = kind === 'inline'
    assert.deepEqual([at.isEnded, told.length], isInline ? [false, 1] : [true, 0])
    pass(1)
    assert.equal(at.isEnded, true)
  }
})

test('its handler is told the reason of its caller, of a limit its error, of what cannot be sent that', () => {
  const reasonTold = (error: TaskCancelledError, isRefused = false) =>
    unpack(setUp(100, { error, isRefused }).told[0]!.reason!) as any
  assert.equal(reasonTold(new TaskCancelledError('enough')), 'enough')
  assert.equal(reasonTold(new TaskTimeoutError('timeout', 5)).code, 'ERR_LIDO_TASK_TIMEOUT')
  assert.match(reasonTold(new TaskCancelledError('enough'), true), /could not be sent: Error: not cloneable/)
})

test('a worker that is to end for one is asked once whether it lives, however many there are', () => {
  const { at, add, told, pass } = setUp(0, { isBehind: false, hasOthers: true })
  add()
  assert.deepEqual(
    told.map(({ kind }) => kind),
    ['ask', 'cancel', 'cancel'],
  )
  pass(999)
  assert.equal(at.isEnded, false)
  pass(10)
  assert.equal(at.isEnded, true)
})
