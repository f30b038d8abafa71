import { fulfilled, rejected } from '../harness/expect.js'

const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }

export default {
  title: 'Ten OOM deaths in a row on two threads: every task settles, good tasks run in between.',
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
