import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from './manual-clock.js'

describe('ManualClock', () => {
  test('advance() calls due timers in order, each at its own time', () => {
    const clock = new ManualClock(0)
    const calls: [string, number][] = []
    clock.after(20, () => calls.push(['second', clock.now()]))
    clock.after(10, () => {
      calls.push(['first', clock.now()])
      clock.after(5, () => calls.push(['set on the way', clock.now()]))
    })
    clock.after(Number.POSITIVE_INFINITY, () => calls.push(['never', clock.now()]))
    clock.advance(9)
    assert.deepEqual(calls, [])
    clock.advance(11)
    assert.deepEqual(calls, [
      ['first', 10],
      ['set on the way', 15],
      ['second', 20],
    ])
    assert.deepEqual(clock.pending, [])
  })

  test('a cancelled timer or turn is never called', () => {
    const clock = new ManualClock()
    clock.after(1, assert.fail).cancel()
    clock.nextTurn(assert.fail).cancel()
    clock.advance(10)
    clock.turn()
  })

  test('a callback of nextTurn() runs at the next turn(), not when time passes', () => {
    const clock = new ManualClock()
    let turns = 0
    clock.nextTurn(() => {
      turns++
      clock.nextTurn(() => turns++)
    })
    clock.advance(1000)
    assert.equal(turns, 0)
    clock.turn()
    assert.equal(turns, 1)
  })

  test('an anchor that is held twice counts once', () => {
    const clock = new ManualClock()
    const anchor = clock.anchor()
    anchor.hold()
    anchor.hold()
    assert.equal(clock.heldAnchors, 1)
    anchor.release()
    anchor.drop()
    assert.equal(clock.heldAnchors, 0)
  })
})
