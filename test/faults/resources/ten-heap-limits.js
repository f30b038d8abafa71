import { fulfilled, rejected } from '../harness/expect.js'

const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }

export default {
  title: 'Ten workers in a row exceed the heap limit. Every task settles.',
  backends: ['thread', 'process'],
  limitMs: 120_000,
  isLong: true,
  async run({ open, needs }) {
    needs('resourceLimits')
    const pool = open({ workers: 2, resourceLimits })
    for (let round = 0; round < 5; round++) {
      const deaths = [pool.run('eatMemory'), pool.run('eatMemory')]
      const good = pool.run('echo', round)
      for (const death of deaths) await rejected(death)
      await fulfilled(good, round)
    }
  },
}
