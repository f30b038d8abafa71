import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Clock, realClock } from '../shared/platform/clock.js'
import { Pool } from './pool.js'

/** Each timer fires early: the first look at the clock is before the end of the pause, the next look after it. */
function earlyClock(): Clock {
  let isEarly = false
  return {
    ...realClock,
    now: () => {
      const skewMs = isEarly ? -50 : 0
      isEarly = false
      return realClock.now() + skewMs
    },
    after: (delayMs, callback, keepsAlive) =>
      realClock.after(
        delayMs,
        () => {
          isEarly = true
          callback()
        },
        keepsAlive,
      ),
  }
}

test('a queued task starts after a pause whose timer fires early', { timeout: 30_000 }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-pause-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const filename = join(folder, 'handler.mjs')
  writeFileSync(filename, 'throw new Error("broken")')
  const pool = new Pool(
    { filename, minWorkers: 1, maxWorkers: 1, backend: 'inline' },
    { clock: earlyClock() },
  )
  t.after(() => pool.destroy())
  await assert.rejects(pool.run(1))
  // The inline worker keeps the failed module for a second, so the answer is an error again. It only has to come.
  await assert.rejects(pool.run(2))
})
