// The parts of the host's clock that can be tested without waiting.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNeverGoesBack } from '../../testing/steady.js'
import { realClock } from './clock.js'
import { makeClock } from './make-clock.js'

test("the host's clock never goes back", () => assertNeverGoesBack(realClock))

test('origin() is right although the thread paused between two readings of the time', () => {
  let looks = 0
  const pauseMs = 1e6
  const clock = makeClock(() => (looks++ < 2 ? pauseMs : 0))
  const before = Number(process.hrtime.bigint() - 1000n) / 1e6
  assert.ok(clock.origin() >= before)
})

test('a timer with a delay of 2 ** 31 ms or more does not fire at once', async () => {
  const timers = [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY].map(delayMs =>
    realClock.after(delayMs, assert.fail),
  )
  await new Promise<void>(resolve => realClock.after(2, resolve, true))
  for (const timer of timers) timer.cancel()
})

test('a timer keeps the process alive only when its caller asks for it', () => {
  const count = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = count()
  const quiet = realClock.after(60_000, assert.fail)
  assert.equal(count(), before)
  const loud = realClock.after(60_000, assert.fail, true)
  assert.equal(count(), before + 1)
  loud.cancel()
  quiet.cancel()
  assert.equal(count(), before)
})

test('an anchor keeps the process alive while it is held, and never after drop()', () => {
  const count = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = count()
  const anchor = realClock.anchor()
  assert.equal(count(), before)
  anchor.hold()
  assert.equal(count(), before + 1)
  anchor.release()
  assert.equal(count(), before)
  anchor.hold()
  anchor.drop()
  assert.equal(count(), before)
  anchor.hold()
  assert.equal(count(), before)
})

test('fake timers installed later do not stop the clock', async t => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate', 'setInterval'] })
  await new Promise<void>(resolve => realClock.after(0, resolve, true))
  await new Promise<void>(resolve => realClock.nextTurn(resolve))
})
