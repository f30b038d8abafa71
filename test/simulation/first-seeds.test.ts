// Random programmes of events for a pool, with both transports. A seed decides each programme.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawProgramme, simulate } from './simulate.js'
import { testSeeds } from './test-seeds.js'

/** `npm test` sets a lower number. */
const { LIDO_SEEDS = '2000' } = process.env
const COUNT = Number(LIDO_SEEDS)

test(`the pool breaks no rule in the first ${COUNT} seeds`, async t => {
  t.diagnostic(await testSeeds(1, COUNT))
})

test('a seed gives the same trace in each run', async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const one = await simulate(drawProgramme(seed), true)
    const other = await simulate(drawProgramme(seed), true)
    assert.deepEqual(one.trace, other.trace, `seed ${seed}`)
  }
})
