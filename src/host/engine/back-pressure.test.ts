import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { ManualClock } from '../../testing/manual-clock.js'
import { microtasks, type Watched, watch } from '../../testing/stand-ins.js'
import { BackPressure } from './back-pressure.js'

function setUp({ limit = Number.POSITIVE_INFINITY, slots = 2, waiting = 0, occupied = 0 } = {}) {
  const clock = new ManualClock()
  const load = { unplaced: waiting, occupied, unavailable: 0 }
  const decoding = { count: 0 }
  const events: string[] = []
  const backPressure = new BackPressure({
    limit,
    slots,
    clock,
    ledger: load,
    decoding,
    listener: {
      onDrain: () => events.push('drain'),
      onNeedsDrain: () => events.push('needsDrain'),
      onError: failure => events.push(String(failure)),
    },
  })
  return {
    backPressure,
    clock,
    load,
    decoding,
    events,
    /** Accepts tasks like the pool: first into free slots, then into the queue. */
    accept(count = 1) {
      for (; count > 0; count--) {
        if (load.occupied < slots) load.occupied++
        else load.unplaced++
        backPressure.onAccepted()
      }
    },
    /** Ends tasks. Queued tasks take their slots. */
    answer(count = 1) {
      for (; count > 0; count--) {
        if (load.unplaced > 0) load.unplaced--
        else load.occupied--
        backPressure.onLeft()
      }
    },
    ask: (signal: AbortSignal | null = null) => watch(backPressure.room(signal)),
  }
}

const states = (watched: Watched<void>[]) => watched.map(({ state }) => state)

describe('room()', () => {
  test('room() resolves at once while the queue is below its limit', async () => {
    const { ask } = setUp({ limit: 3, slots: 1, waiting: 2, occupied: 1 })
    const asked = ask()
    await microtasks()
    assert.equal(asked.state, 'fulfilled')
  })

  test('room() waits while the queue is full', async () => {
    const { ask, clock } = setUp({ limit: 3, slots: 1, waiting: 3, occupied: 1 })
    const asked = ask()
    await microtasks()
    clock.turn()
    await microtasks()
    assert.equal(asked.state, 'pending')
  })

  test('room() waits while too many large results are being decoded', async () => {
    for (const limit of [2, Number.POSITIVE_INFINITY]) {
      const { backPressure, ask, decoding, events } = setUp({ limit, slots: 2 })
      decoding.count = 4
      const asked = ask()
      await microtasks()
      assert.equal(asked.state, 'pending')
      decoding.count = 3
      backPressure.onLeft()
      await microtasks()
      assert.equal(asked.state, 'fulfilled')
      assert.deepEqual(events, [])
    }
  })

  test('large results that are being decoded cause needsDrain and drain like queued tasks', () => {
    const { backPressure, decoding, events } = setUp({ limit: 2, slots: 2 })
    decoding.count = 4
    backPressure.onLeft()
    decoding.count = 0
    backPressure.onLeft()
    assert.deepEqual(events, ['needsDrain', 'drain'])
  })

  test('room() without a limit waits until fewer tasks are queued than the pool has slots', async () => {
    const { ask, load, backPressure } = setUp({ slots: 2, waiting: 2, occupied: 2 })
    const asked = ask()
    await microtasks()
    assert.equal(asked.state, 'pending')
    load.unplaced = 1
    backPressure.onLeft()
    await microtasks()
    assert.equal(asked.state, 'fulfilled')
  })

  test('a free place resolves only the oldest room() call', async () => {
    const { ask, answer } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const asked = [ask(), ask(), ask()]
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending', 'pending'])
  })

  test('two free places resolve the two oldest room() calls', async () => {
    const { ask, load, backPressure } = setUp({ limit: 4, slots: 1, waiting: 4, occupied: 1 })
    const asked = [ask(), ask(), ask()]
    load.unplaced = 2
    backPressure.onLeft()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'pending'])
  })

  test('room() calls in the same event-loop turn do not share a place', async () => {
    const { ask } = setUp({ limit: 2, slots: 1 })
    const asked = [ask(), ask(), ask(), ask()]
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'pending', 'pending'])
  })

  test('a new room() call does not overtake a waiting call', async () => {
    const { ask, load, backPressure } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const first = ask()
    load.unplaced = 0
    const second = ask()
    await microtasks()
    assert.deepEqual(states([first, second]), ['pending', 'pending'])
    backPressure.onLeft()
    await microtasks()
    assert.deepEqual(states([first, second]), ['fulfilled', 'pending'])
  })

  test('a place that a task takes stays taken at the end of the turn', async () => {
    const { ask, accept, answer, clock } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const asked = [ask(), ask()]
    answer()
    await microtasks()
    accept()
    clock.turn()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending'])
  })

  test('a place that is not used by the end of the turn goes to the next waiting call', async () => {
    const { ask, answer, clock } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const asked = [ask(), ask(), ask()]
    answer()
    await microtasks()
    clock.turn()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'pending'])
    clock.turn()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'fulfilled'])
  })

  test('room() with maxQueue 0 resolves while a slot is free', async () => {
    const { ask, answer } = setUp({ limit: 0, slots: 2, occupied: 1 })
    const asked = [ask(), ask()]
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending'])
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled'])
  })

  test('room() with an aborted signal rejects at once with TaskCancelledError', async () => {
    const { ask } = setUp()
    const asked = ask(AbortSignal.abort('enough'))
    await microtasks()
    assert.equal(asked.state, 'rejected')
    assert.deepEqual(asked.error, new TaskCancelledError('enough'))
  })

  test('an aborted room() call leaves the next free place to the call behind it', async () => {
    const { ask, answer } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const controller = new AbortController()
    const asked = [ask(controller.signal), ask()]
    controller.abort('enough')
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['rejected', 'fulfilled'])
    assert.deepEqual(asked[0]!.error, new TaskCancelledError('enough'))
  })

  test('close() rejects waiting and later room() calls with ERR_LIDO_POOL_CLOSED', async () => {
    const { ask, backPressure } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const waiting = ask()
    backPressure.close()
    const late = ask()
    await microtasks()
    for (const asked of [waiting, late]) assert.equal(asked.error.code, 'ERR_LIDO_POOL_CLOSED')
  })
})

describe('needsDrain and drain', () => {
  test('needsDrain comes once when the queue becomes full, drain once when there is room again', () => {
    const { accept, answer, events, backPressure } = setUp({ limit: 2, slots: 1 })
    accept(2)
    assert.deepEqual(events, [])
    assert.equal(backPressure.needsDrain, false)
    accept()
    assert.deepEqual(events, ['needsDrain'])
    assert.equal(backPressure.needsDrain, true)
    answer()
    assert.deepEqual(events, ['needsDrain', 'drain'])
    assert.equal(backPressure.needsDrain, false)
  })

  test('drain comes when the queue becomes empty, even if the queue was never full', () => {
    const { accept, answer, events } = setUp({ limit: 5, slots: 1 })
    accept(3)
    answer()
    assert.deepEqual(events, [])
    answer()
    assert.deepEqual(events, ['drain'])
    answer()
    assert.deepEqual(events, ['drain'])
  })

  test('a queue without a limit counts as full when it holds one task for each slot', () => {
    const { accept, backPressure } = setUp({ slots: 2 })
    accept(3)
    assert.equal(backPressure.needsDrain, false)
    accept()
    assert.equal(backPressure.needsDrain, true)
  })

  test('a pool with maxQueue 0 counts as full when every slot is taken', () => {
    const { accept, answer, events, backPressure } = setUp({ limit: 0, slots: 2 })
    accept()
    assert.equal(backPressure.needsDrain, false)
    accept()
    assert.equal(backPressure.needsDrain, true)
    answer()
    assert.equal(backPressure.needsDrain, false)
    assert.deepEqual(events, ['needsDrain', 'drain'])
  })
})
