import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdaptiveSpin, CoreWatch } from './adaptive-spin.js'

function tries(patience: AdaptiveSpin, gaps: number): number {
  return Array.from({ length: gaps }, () => patience.shouldSpin()).filter(Boolean).length
}

test('shouldSpin() is true until long gaps outnumber short ones, then for 1 gap in 16', () => {
  const patience = new AdaptiveSpin(1)
  for (let gap = 0; gap < 100; gap++) {
    assert.equal(patience.shouldSpin(), true)
    patience.onGap(gap % 2 === 0 ? 1 : 2)
  }
  for (let gap = 0; gap < 20; gap++) patience.onGap(2)
  assert.equal(tries(patience, 160), 10)
})

test('shouldSpin() is true again after a short gap, and false after the next long one', () => {
  const patience = new AdaptiveSpin(1)
  for (let gap = 0; gap < 20; gap++) patience.onGap(5)
  assert.equal(patience.shouldSpin(), false)
  patience.onGap(0.5)
  assert.equal(tries(patience, 10), 10)
  patience.onGap(5)
  assert.equal(patience.shouldSpin(), false)
})

/** Busy-waits without end. `share` is the part of the time in which the thread waits for a core. */
class Machine {
  share = 0
  now = 1000
  waitedMs = 0
  readonly watch = new CoreWatch(() => this.waitedMs)

  /** Returns the first pause, or 0 after `ms`. */
  spinFor(ms: number): number {
    for (const end = this.now + ms; this.now < end; ) {
      this.now++
      this.waitedMs += this.share
      const pauseMs = this.watch.onBusyWait(1 - this.share, this.now)
      if (pauseMs > 0) return pauseMs
    }
    return 0
  }
}

test('a thread whose core others take pauses its busy-waits, each time for longer, up to 8 s', () => {
  const machine = new Machine()
  machine.share = 0.5
  const pauses = Array.from({ length: 6 }, () => {
    const pauseMs = machine.spinFor(500)
    machine.now += pauseMs
    return pauseMs
  })
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 8000])
})

test('a thread with a core of its own never pauses, also when background work takes it now and then', () => {
  const machine = new Machine()
  for (let second = 0; second < 20; second++) {
    machine.share = 1 / 20
    assert.equal(machine.spinFor(980), 0)
    machine.share = 0.9
    assert.equal(machine.spinFor(20), 0)
  }
})

test('the first pause is short again after others have left the cores', () => {
  const machine = new Machine()
  machine.share = 0.5
  for (let pause = 0; pause < 4; pause++) machine.now += machine.spinFor(500)
  machine.share = 0
  assert.equal(machine.spinFor(1000), 0)
  machine.share = 0.5
  assert.equal(machine.spinFor(500), 500)
})

test('a thread that rarely busy-waits never asks the system', () => {
  const watch = new CoreWatch(() => {
    throw new Error('asked')
  })
  for (let now = 1000; now < 2000; now += 10) assert.equal(watch.onBusyWait(0.01, now), 0)
})
