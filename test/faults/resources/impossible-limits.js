import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title:
    'resourceLimits that make Node abort the process (stackSizeMb 0.2; maxOldGenerationSizeMb 1) are refused or reject; they do not take the process down.',
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
