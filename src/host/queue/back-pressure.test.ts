// Whether one more task may come in, and who is told when there is room again.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { ManualClock } from '../../testing/manual-clock.js'
import { microtasks, type Watched, watch } from '../../testing/stand-ins.js'
import { BackPressure } from './back-pressure.js'

function setUp({ limit = Number.POSITIVE_INFINITY, slots = 2, waiting = 0, occupied = 0 } = {}) {
  const clock = new ManualClock()
  const load = { queueSize: waiting, decoding: 0, occupied, unavailableSlots: 0 }
  const events: string[] = []
  const backPressure = new BackPressure(limit, slots, clock, load, {
    onDrain: () => events.push('drain'),
    onNeedsDrain: () => events.push('needsDrain'),
    onFailure: failure => events.push(String(failure)),
  })
  return {
    backPressure,
    clock,
    load,
    events,
    /** Takes in tasks as the pool does: first to free slots, then to the queue. */
    accept(count = 1) {
      for (; count > 0; count--) {
        if (load.occupied < slots) load.occupied++
        else load.queueSize++
        backPressure.onAccepted()
      }
    },
    /** Tasks are answered; waiting ones move up. */
    answer(count = 1) {
      for (; count > 0; count--) {
        if (load.queueSize > 0) load.queueSize--
        else load.occupied--
        backPressure.onLeft()
      }
    },
    ask: (signal: AbortSignal | null = null) => watch(backPressure.room(signal)),
  }
}

const states = (watched: Watched<void>[]) => watched.map(({ state }) => state)

describe('room()', () => {
  test('is there at once while the queue holds fewer than its limit', async () => {
    const { ask } = setUp({ limit: 3, slots: 1, waiting: 2, occupied: 1 })
    const asked = ask()
    await microtasks()
    assert.equal(asked.state, 'fulfilled')
  })

  test('is not there while the queue is full', async () => {
    const { ask, clock } = setUp({ limit: 3, slots: 1, waiting: 3, occupied: 1 })
    const asked = ask()
    await microtasks()
    clock.turn()
    await microtasks()
    assert.equal(asked.state, 'pending')
  })

  test('is not there while more results than slots wait to be read', async () => {
    for (const limit of [2, Number.POSITIVE_INFINITY]) {
      const { backPressure, ask, load, events } = setUp({ limit, slots: 2 })
      load.decoding = 4
      const asked = ask()
      await microtasks()
      assert.equal(asked.state, 'pending')
      load.decoding = 3
      backPressure.onLeft()
      await microtasks()
      assert.equal(asked.state, 'fulfilled')
      assert.deepEqual(events, [])
    }
  })

  test('producers are told to pause, and to go on, for results that wait to be read too', () => {
    const { backPressure, load, events } = setUp({ limit: 2, slots: 2 })
    load.decoding = 4
    backPressure.onLeft()
    load.decoding = 0
    backPressure.onLeft()
    assert.deepEqual(events, ['needsDrain', 'drain'])
  })

  test('without a limit it means: fewer wait than the pool has slots', async () => {
    const { ask, load, backPressure } = setUp({ slots: 2, waiting: 2, occupied: 2 })
    const asked = ask()
    await microtasks()
    assert.equal(asked.state, 'pending')
    load.queueSize = 1
    backPressure.onLeft()
    await microtasks()
    assert.equal(asked.state, 'fulfilled')
  })

  test('one place wakes one waiter, the one who asked first', async () => {
    const { ask, answer } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const asked = [ask(), ask(), ask()]
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending', 'pending'])
  })

  test('as many are woken as there are places', async () => {
    const { ask, load, backPressure } = setUp({ limit: 4, slots: 1, waiting: 4, occupied: 1 })
    const asked = [ask(), ask(), ask()]
    load.queueSize = 2
    backPressure.onLeft()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'pending'])
  })

  test('callers in one turn are given no more places than there are', async () => {
    const { ask } = setUp({ limit: 2, slots: 1 })
    const asked = [ask(), ask(), ask(), ask()]
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled', 'pending', 'pending'])
  })

  test('nobody overtakes those who wait already', async () => {
    const { ask, load, backPressure } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const first = ask()
    load.queueSize = 0
    const second = ask()
    await microtasks()
    assert.deepEqual(states([first, second]), ['pending', 'pending'])
    backPressure.onLeft()
    await microtasks()
    assert.deepEqual(states([first, second]), ['fulfilled', 'pending'])
  })

  test('a place that is used stays used when the turn ends', async () => {
    const { ask, accept, answer, clock } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const asked = [ask(), ask()]
    answer()
    await microtasks()
    accept()
    clock.turn()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending'])
  })

  test('a place that is not used by the end of the turn goes to the next', async () => {
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

  test('with maxQueue 0 there is room while a slot is free', async () => {
    const { ask, answer } = setUp({ limit: 0, slots: 2, occupied: 1 })
    const asked = [ask(), ask()]
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'pending'])
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['fulfilled', 'fulfilled'])
  })

  test('an aborted signal rejects at once with TaskCancelledError', async () => {
    const { ask } = setUp()
    const asked = ask(AbortSignal.abort('enough'))
    await microtasks()
    assert.equal(asked.state, 'rejected')
    assert.deepEqual(asked.error, new TaskCancelledError('enough'))
  })

  test('a waiter that gives up leaves his place in the line to the next', async () => {
    const { ask, answer } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const controller = new AbortController()
    const asked = [ask(controller.signal), ask()]
    controller.abort('enough')
    answer()
    await microtasks()
    assert.deepEqual(states(asked), ['rejected', 'fulfilled'])
    assert.deepEqual(asked[0]!.error, new TaskCancelledError('enough'))
  })

  test('closing turns away those who wait and those who come', async () => {
    const { ask, backPressure } = setUp({ limit: 1, slots: 1, waiting: 1, occupied: 1 })
    const waiting = ask()
    backPressure.close()
    const late = ask()
    await microtasks()
    for (const asked of [waiting, late]) assert.equal(asked.error.code, 'ERR_LIDO_POOL_CLOSED')
  })
})

describe('needsDrain and drain', () => {
  test('needsDrain is told once when the queue becomes full, drain once when there is room again', () => {
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

  test('drain is told when the queue becomes empty, full before or not', () => {
    const { accept, answer, events } = setUp({ limit: 5, slots: 1 })
    accept(3)
    answer()
    assert.deepEqual(events, [])
    answer()
    assert.deepEqual(events, ['drain'])
    answer()
    assert.deepEqual(events, ['drain'])
  })

  test('without a limit the queue is full when as many wait as there are slots', () => {
    const { accept, backPressure } = setUp({ slots: 2 })
    accept(3)
    assert.equal(backPressure.needsDrain, false)
    accept()
    assert.equal(backPressure.needsDrain, true)
  })

  test('with maxQueue 0 the pool is full when every slot is taken', () => {
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
