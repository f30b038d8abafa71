import { fulfilled } from '../harness/expect.js'

const yearMs = 366 * 24 * 3_600_000

export default {
  title: 'A wall clock that jumps by a year changes nothing.',
  async run({ open }) {
    const { now } = Date
    try {
      const pool = open({ workers: 1 })
      for (const jumpMs of [0, yearMs, -yearMs]) {
        Date.now = () => now() + jumpMs
        const early = pool.run('later', { ms: 50, value: 'early' })
        Date.now = () => now() - jumpMs
        await fulfilled(pool.run('echo', jumpMs), jumpMs)
        await fulfilled(early, 'early')
      }
    } finally {
      Date.now = now
    }
  },
}
