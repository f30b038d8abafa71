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

describe('hasRoomFor()', () => {
  const cases: [string, Partial<PlacementView>, { shared: boolean; exclusive: boolean }][] = [
    ['an idle worker has room for shared and exclusive tasks', {}, { shared: true, exclusive: true }],
    ['a busy worker has no room for an exclusive task', { usage: 1 }, { shared: true, exclusive: false }],
    ['a full worker has no room', { usage: 4 }, { shared: false, exclusive: false }],
    [
      'a worker with an exclusive task has no room',
      { usage: 1, isExclusive: true },
      { shared: false, exclusive: false },
    ],
    [
      'a starting worker has the same room as a ready worker',
      { isReady: false },
      { shared: true, exclusive: true },
    ],
  ]
  for (const [title, traits, { shared, exclusive }] of cases) {
    test(title, () => {
      assert.equal(hasRoomFor(worker(traits), false), shared)
      assert.equal(hasRoomFor(worker(traits), true), exclusive)
    })
  }
})

describe('choosePlacement()', () => {
  test('no worker is chosen when there are no workers or all are full', () => {
    assert.equal(choosePlacement(false, []), null)
    assert.equal(
      choosePlacement(false, [worker({ usage: 4 }), worker({ usage: 1, isExclusive: true })]),
      null,
    )
  })

  test('the first idle ready worker is chosen', () => {
    const workers = [worker({ usage: 1 }), worker({ isReady: false }), worker(), worker()]
    assert.equal(choosePlacement(false, workers), workers[2])
  })

  test('the first ready worker with the fewest tasks is chosen when no ready worker is idle', () => {
    const workers = [
      worker({ usage: 3 }),
      worker({ usage: 2 }),
      worker({ usage: 2 }),
      worker({ isReady: false }),
    ]
    assert.equal(choosePlacement(false, workers), workers[1])
  })

  test('the starting worker with the fewest tasks is chosen when no ready worker has room', () => {
    const workers = [
      worker({ usage: 4 }),
      worker({ isReady: false, usage: 2 }),
      worker({ isReady: false, usage: 1 }),
    ]
    assert.equal(choosePlacement(false, workers), workers[2])
  })

  test('an exclusive task gets only a worker without tasks', () => {
    assert.equal(choosePlacement(true, [worker({ usage: 1 }), worker({ usage: 2 })]), null)
    const workers = [worker({ usage: 1 }), worker({ isReady: false })]
    assert.equal(choosePlacement(true, workers), workers[1])
  })
})
