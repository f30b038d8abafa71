import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../kit.js'
import { restOfDelay } from './give-back.js'

const AHEAD_MS = 60_000

/** A job that a client added just now by the clock of the server, on a host whose clock is ahead. */
function rest(delay: number | undefined, fields: object, aheadMs = AHEAD_MS): number {
  const serverNow = realClock.epochNow() - aheadMs
  const job = { opts: { delay }, timestamp: serverNow, attemptsMade: 0, ...fields }
  return restOfDelay(job as unknown as Parameters<typeof restOfDelay>[0], serverNow)
}

test('a job that a host took too early has the rest of its delay', () => {
  assert.equal(rest(10_000, {}), 10_000)
})

test('a job without a delay, a retried job and a job whose delay has passed have no rest', () => {
  assert.equal(rest(undefined, {}), 0)
  assert.equal(rest(10_000, { attemptsMade: 1 }), 0)
  assert.equal(rest(10_000, { timestamp: realClock.epochNow() - AHEAD_MS - 20_000 }), 0)
})

test('a job that a client promoted has no rest where the clocks agree', () => {
  assert.equal(rest(10_000, {}, 0), 0)
  assert.equal(rest(10_000, {}, 300), 0)
})

test('a job that a client promoted has no rest where its delay is not over on the host either', () => {
  assert.equal(rest(AHEAD_MS + 10_000, {}), 0)
})
