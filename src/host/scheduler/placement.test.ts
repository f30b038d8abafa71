// Which worker takes a task.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { choosePlacement, hasRoomFor, type PlacementView } from './placement.js'

const worker = (traits: Partial<PlacementView> = {}): PlacementView => ({
  isReady: true,
  usage: 0,
  slots: 4,
  isExclusive: false,
  isLeaving: false,
  ...traits,
})

describe('room on a worker', () => {
  const cases: [string, Partial<PlacementView>, { shared: boolean; exclusive: boolean }][] = [
    ['an idle worker has room for any task', {}, { shared: true, exclusive: true }],
    ['a busy one only for a task that shares', { usage: 1 }, { shared: true, exclusive: false }],
    ['a full one for none', { usage: 4 }, { shared: false, exclusive: false }],
    [
      'one with an exclusive task for none',
      { usage: 1, isExclusive: true },
      { shared: false, exclusive: false },
    ],
    ['one that starts counts like a ready one', { isReady: false }, { shared: true, exclusive: true }],
  ]
  for (const [title, traits, { shared, exclusive }] of cases) {
    test(title, () => {
      assert.equal(hasRoomFor(worker(traits), false), shared)
      assert.equal(hasRoomFor(worker(traits), true), exclusive)
    })
  }
})

describe('the choice', () => {
  test('nobody, when there is nobody or no room', () => {
    assert.equal(choosePlacement(false, []), null)
    assert.equal(
      choosePlacement(false, [worker({ usage: 4 }), worker({ usage: 1, isExclusive: true })]),
      null,
    )
  })

  test('the first idle worker that is ready', () => {
    const workers = [worker({ usage: 1 }), worker({ isReady: false }), worker(), worker()]
    assert.equal(choosePlacement(false, workers), workers[2])
  })

  test('else the ready one with the fewest tasks, the first of equals', () => {
    const workers = [
      worker({ usage: 3 }),
      worker({ usage: 2 }),
      worker({ usage: 2 }),
      worker({ isReady: false }),
    ]
    assert.equal(choosePlacement(false, workers), workers[1])
  })

  test('else the one that starts with the fewest tasks', () => {
    const workers = [
      worker({ usage: 4 }),
      worker({ isReady: false, usage: 2 }),
      worker({ isReady: false, usage: 1 }),
    ]
    assert.equal(choosePlacement(false, workers), workers[2])
  })

  test('an exclusive task waits for a worker that holds nothing', () => {
    assert.equal(choosePlacement(true, [worker({ usage: 1 }), worker({ usage: 2 })]), null)
    const workers = [worker({ usage: 1 }), worker({ isReady: false })]
    assert.equal(choosePlacement(true, workers), workers[1])
  })
})
