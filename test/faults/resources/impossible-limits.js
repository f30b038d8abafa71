import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'resourceLimits that make Node abort are refused or reject, and the process survives.',
  async run({ open, needs }) {
    needs('resourceLimits')
    for (const resourceLimits of [{ stackSizeMb: 0.2 }, { maxOldGenerationSizeMb: 1 }]) {
      let pool
      try {
        pool = open({ workers: 1, resourceLimits })
      } catch (error) {
        if (error.verdict !== undefined) throw error
        continue
      }
      await rejected(pool.run('echo', 1))
    }
    await fulfilled(open({ workers: 1 }).run('echo', 1), 1)
  },
}
