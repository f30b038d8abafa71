import { fulfilled, rejected } from '../harness/expect.js'
import { expectHeapGrowthBelow, expectNoMoreThan, measureHandles, measureHeap } from '../harness/resources.js'

async function abortMany(pool, facts, times) {
  for (let round = 0; round < times; round++) {
    const spinning = facts.lines('spinning').length
    const call = pool.run('spin', 0, { isAbortable: true })
    await facts.reach(spinning + 1, 'spinning')
    call.abort()
    await rejected(call)
    await fulfilled(pool.run('echo', round), round)
  }
}

export default {
  title: '25 aborts of running tasks leave no descriptor, thread or handle, and under 4 MB.',
  backends: ['thread', 'process'],
  limitMs: 90_000,
  isLong: true,
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    await abortMany(pool, facts, 5)
    const heap = await measureHeap()
    const handles = await measureHandles()
    await abortMany(pool, facts, 25)
    await expectNoMoreThan(handles)
    await expectHeapGrowthBelow(4e6, heap)
  },
}
