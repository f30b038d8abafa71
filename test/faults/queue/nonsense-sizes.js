import { fulfilled, settled } from '../harness/expect.js'

const nonsense = [
  { min: Number.NaN, max: Number.NaN },
  { min: 0, max: 0 },
  { min: -1, max: -1 },
  { min: 1.5, max: 1.5 },
  { min: '4', max: '4' },
  { min: 3, max: 2 },
]

export default {
  title: 'Wrong pool sizes (NaN, 0, -1, 1.5, "4") throw or work, and never hang.',
  async run({ open }) {
    for (const sizes of nonsense) {
      let pool
      try {
        pool = open(sizes)
      } catch (error) {
        if (error.verdict !== undefined) throw error
        continue
      }
      const call = pool.run('echo', 1)
      call.label = `run() of a pool of ${sizes.min}..${sizes.max}`
      await settled(call, 5_000)
      await fulfilled(call, 1)
    }
    await fulfilled(open({ workers: 1 }).run('echo', 1), 1)
  },
}
