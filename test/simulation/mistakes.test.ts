// The simulation finds each planted mistake with one of the first seeds.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { copyWith } from '../helpers/patched-copy.js'
import { mistakes } from './mistakes.js'
import type * as SimulateModule from './simulate.js'

const MOST_SEEDS = 5000

describe('planted mistakes in a pool', () => {
  for (const [index, mistake] of mistakes.entries()) {
    test(`the mistake '${mistake.title}' is found`, async t => {
      const copy = copyWith(mistake, `simulation-${index}`)
      const { drawProgramme, simulate } = await copy.load<typeof SimulateModule>(
        'test/simulation/simulate.js',
      )
      let wrong: string | null = null
      const { firstSeed = 1, transport } = mistake
      let seed = firstSeed - 1
      while (wrong === null && seed < firstSeed + MOST_SEEDS) {
        wrong = (await simulate(drawProgramme(++seed, transport))).wrong
      }
      copy.remove()
      assert.ok(wrong !== null, `none of ${MOST_SEEDS} seeds shows it`)
      t.diagnostic(`seed ${seed}: ${wrong.split('\n')[0]}`)
    })
  }
})
