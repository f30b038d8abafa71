import { expect, fulfilled, rejected, settled } from '../harness/expect.js'

const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 }

export default {
  title: 'A payload above the heap limit rejects its call, and ends at most one worker.',
  backends: ['thread', 'process'],
  async run({ open, needs, workers }) {
    needs('resourceLimits')
    const pool = open({ workers: 1, resourceLimits })
    await fulfilled(pool.run('echo', 1), 1)
    const before = workers.started
    const rows = Array.from({ length: 500_000 }, (_, number) => ({ number, text: `row ${number}` }))
    await rejected(pool.run('ownKeys', rows))
    await settled(pool.run('echo', 2))
    expect(workers.started - before <= 1, `${workers.started - before} workers were started after it`)
  },
}
