// The host's door to time, in so far as it can be judged without waiting for time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNeverGoesBack } from '../../testing/steady.js'
import { realClock } from './clock.js'
import { makeClock } from './make-clock.js'

test('the clock never goes back', () => assertNeverGoesBack(realClock))

test('where a clock starts is told right, though its thread was kept off the cores between two looks', () => {
  let looks = 0
  const pauseMs = 1e6
  const clock = makeClock(() => (looks++ < 2 ? pauseMs : 0))
  const before = Number(process.hrtime.bigint() - 1000n) / 1e6
  assert.ok(clock.origin() >= before)
})

test('a delay longer than a timer can hold does not fire at once', async () => {
  const timers = [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY].map(delayMs =>
    realClock.after(delayMs, assert.fail),
  )
  await new Promise<void>(resolve => realClock.after(2, resolve, true))
  for (const timer of timers) timer.cancel()
})

test('only a timer that asks for it keeps the process alive', () => {
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

test('an anchor keeps the process alive while it is held, and never again once dropped', () => {
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
