import { fulfilled, settled } from '../harness/expect.js'
import { expectHeapGrowthBelow, measureHeap } from '../harness/resources.js'

const count = 40_000
const limitBytes = 2e6

async function runMany(pool, total) {
  for (let done = 0; done < total; done += 500) {
    const calls = Array.from({ length: 500 }, (_, number) => pool.run('echo', number))
    await fulfilled(calls.at(-1), 499)
    await settled(calls)
  }
}

export default {
  title: '40,000 tasks leave under 2 MB of heap, 50 bytes per task.',
  limitMs: 120_000,
  isLong: true,
  async run({ open }) {
    const pool = open({ workers: 1 })
    await runMany(pool, count / 4)
    const before = await measureHeap()
    await runMany(pool, count)
    await expectHeapGrowthBelow(limitBytes, before)
  },
}
