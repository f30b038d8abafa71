import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HostBell } from '../../shared/lane/doorbell.js'
import { createLane } from '../../shared/lane/layout.js'
import { ManualClock } from '../../testing/manual-clock.js'
import { Lookout } from './lookout.js'

/** A host with tasks under way, whose workers have so much to do; `answer()` is a worker's: true when it has to ring. */
function loadedHost({ backlogMs, mayPoll = false }: { backlogMs: number; mayPoll?: boolean }) {
  const lane = createLane(8)
  const clock = new ManualClock()
  const workersEnd = new HostBell(lane)
  const bell = new HostBell(lane)
  const state = { backlogMs, mayPoll, answers: 0, collected: 0, isWaiting: true }
  const lookout = new Lookout({
    clock,
    bell,
    mayPoll: () => state.mayPoll,
    collect: () => {
      const had = state.answers > 0
      state.collected += state.answers
      state.answers = 0
      return had
    },
    hasAnswers: () => state.answers > 0,
    isWaiting: () => state.isWaiting,
    backlogMs: () => state.backlogMs,
  })
  const answer = () => {
    state.answers++
    return workersEnd.ring()
  }
  lookout.expect(clock.now())
  return { clock, lookout, state, answer, workersEnd, bell }
}

test('while no core is spare and the workers have enough to do, answers are taken in together, and no bell is rung', () => {
  const { clock, lookout, state, answer } = loadedHost({ backlogMs: 8 })
  assert.equal(answer(), true)
  lookout.onBell()
  assert.equal(state.collected, 1)
  assert.deepEqual([answer(), answer()], [false, false])
  assert.deepEqual(clock.pending, [2])
  clock.advance(2)
  assert.equal(state.collected, 3)
})

test('a worker with nothing left to do calls the host from its rest', () => {
  const { clock, lookout, state, answer, workersEnd } = loadedHost({ backlogMs: 1000 })
  answer()
  lookout.onBell()
  answer()
  assert.deepEqual([workersEnd.ringAtRest(), workersEnd.ringAtRest()], [true, false])
  state.backlogMs = 0
  lookout.onBell()
  assert.equal(state.collected, 2)
  assert.deepEqual(clock.pending, [])
})

test('a rest without an answer ends in sleep, from which the next answer wakes the host', () => {
  const { clock, lookout, answer, workersEnd } = loadedHost({ backlogMs: 1000 })
  answer()
  lookout.onBell()
  clock.advance(4)
  assert.deepEqual(clock.pending, [])
  assert.deepEqual([workersEnd.ringAtRest(), answer()], [false, true])
})

test('the host sleeps at once, and is woken by each answer, when the workers are about to run out of tasks', () => {
  const { clock, lookout, answer } = loadedHost({ backlogMs: 3 })
  answer()
  lookout.onBell()
  assert.deepEqual(clock.pending, [])
  assert.equal(answer(), true)
})

test('with a core to spare the host is woken by each answer: waking it takes nothing from a worker', () => {
  const { clock, lookout, answer } = loadedHost({ backlogMs: 1000, mayPoll: true })
  // Answers that take long, so that it does not pay to look for them in each turn.
  for (let task = 0; task < 20; task++) {
    clock.advance(10)
    clock.turn()
    if (answer()) lookout.onBell()
  }
  clock.advance(10)
  clock.turn()
  assert.deepEqual(clock.pending, [])
  assert.equal(answer(), true)
})

test('who looks out sleeps as soon as no core is spare: whom the task has woken may have taken the last one', () => {
  const { clock, state, answer } = loadedHost({ backlogMs: 0, mayPoll: true })
  clock.turn()
  assert.deepEqual([clock.awaitsTurn, answer()], [true, false])
  clock.turn()
  assert.equal(state.collected, 1)
  state.mayPoll = false
  clock.turn()
  assert.deepEqual([clock.awaitsTurn, answer()], [false, true])
})

test('an answer for which nobody rings, as the host was about to announce its sleep, is taken in', () => {
  const { clock, lookout, state, answer, bell } = loadedHost({ backlogMs: 0 })
  const announceSleep = bell.announceSleep.bind(bell)
  answer()
  bell.announceSleep = () => {
    bell.announceSleep = announceSleep
    assert.equal(answer(), false)
    announceSleep()
  }
  lookout.onBell()
  clock.turn()
  assert.equal(state.collected, 2)
  assert.equal(answer(), true)
})

test('a worker that took the bell and died before it rang costs no other its answer', () => {
  for (const isWaiting of [true, false]) {
    const { clock, lookout, state, answer } = loadedHost({ backlogMs: 0 })
    assert.equal(answer(), true)
    state.isWaiting = isWaiting
    lookout.onWorkerGone()
    clock.turn()
    assert.equal(state.collected, 1)
    clock.advance(1)
    clock.turn()
    assert.deepEqual([clock.awaitsTurn, answer()], [false, true])
  }
  const { lookout, state, answer, workersEnd } = loadedHost({ backlogMs: 0 })
  state.isWaiting = false
  workersEnd.ring()
  lookout.onWorkerGone()
  assert.equal(answer(), true)
})
