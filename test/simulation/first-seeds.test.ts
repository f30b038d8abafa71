// The pool keeps its promises through seeded chaos, with both transports.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawProgramme, simulate } from './simulate.js'
import { testSeeds } from './test-seeds.js'

/** The fast tier asks for fewer. */
const { LIDO_SEEDS = '10000' } = process.env
const COUNT = Number(LIDO_SEEDS)

test(`every promise is kept in the first ${COUNT} seeds`, async t => {
  t.diagnostic(await testSeeds(1, COUNT))
})

test('a seed means the same every time', async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const one = await simulate(drawProgramme(seed), true)
    const other = await simulate(drawProgramme(seed), true)
    assert.deepEqual(one.trace, other.trace, `seed ${seed}`)
  }
})
