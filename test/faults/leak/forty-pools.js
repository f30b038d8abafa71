import { expect, fulfilled, say } from '../harness/expect.js'
import { expectHeapGrowthBelow, expectNoMoreThan, measureHandles, measureHeap } from '../harness/resources.js'

export default {
  title: '40 used pools leave no listener, descriptor, handle or warning, and under 3 MB.',
  limitMs: 120_000,
  isLong: true,
  async run({ open }) {
    let warning
    process.on('warning', each => {
      warning = each
    })
    const useOne = async number => {
      const pool = open({ workers: 2 })
      await fulfilled(pool.run('echo', number), number)
      await fulfilled(pool.destroy())
    }
    for (let number = 0; number < 5; number++) await useOne(number)
    const heap = await measureHeap()
    const handles = await measureHandles()
    for (let number = 0; number < 40; number++) await useOne(number)
    await expectNoMoreThan(handles)
    await expectHeapGrowthBelow(3e6, heap)
    expect(warning === undefined, `a warning: ${say(warning)}`)
  },
}
