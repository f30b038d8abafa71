import { fulfilled, rejected } from '../harness/expect.js'
import { expectHeapGrowthBelow, expectNoMoreThan, measureHandles, measureHeap } from '../harness/resources.js'

async function die(pool, times) {
  for (let death = 0; death < times; death++) {
    await rejected(pool.run('exit', 1))
    await fulfilled(pool.run('echo', death), death)
  }
}

export default {
  title: '60 worker deaths leave no descriptor, thread, port or timer, and under 4 MB.',
  backends: ['thread', 'process'],
  limitMs: 90_000,
  isLong: true,
  async run({ open }) {
    const pool = open({ workers: 1 })
    await die(pool, 5)
    const heap = await measureHeap()
    const handles = await measureHandles()
    await die(pool, 60)
    await expectNoMoreThan(handles)
    await expectHeapGrowthBelow(4e6, heap)
  },
}
