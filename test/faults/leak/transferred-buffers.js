import { expect, fulfilled } from '../harness/expect.js'
import { collectGarbage } from '../harness/resources.js'

const size = 4 * 2 ** 20

export default {
  title: '300 transferred buffers of 4 MB do not pile up in memory.',
  limitMs: 90_000,
  isLong: true,
  async run({ open, needs, needsMemory }) {
    needs('transfer')
    needsMemory(3)
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    const before = process.memoryUsage.rss()
    let most = 0
    for (let round = 0; round < 300; round++) {
      const buffer = new Uint8Array(size).fill(1).buffer
      await fulfilled(pool.run('length', buffer, { transferList: [buffer] }), size)
      most = Math.max(most, process.memoryUsage.rss() - before)
    }
    expect(most < 600e6, `${Math.round(most / 1e6)} MB at once`)
    await collectGarbage()
  },
}
