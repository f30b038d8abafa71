import { expect, say, settled, until } from '../harness/expect.js'
import { collectGarbage } from '../harness/resources.js'

const patienceMs = 30_000

async function expectLength(call, length) {
  await settled(call, patienceMs)
  const result = call.value?.byteLength ?? call.value
  expect(result === length, `got ${say(result ?? call.error)}`)
}

export default {
  title: 'A 256 MiB result and a 200 MB string arrive, and the memory is freed.',
  limitMs: 90_000,
  isLong: true,
  async run({ open, needsMemory }) {
    needsMemory(3)
    const pool = open({ workers: 1 })
    const before = process.memoryUsage()
    await expectLength(pool.run('makeBytes', 2 ** 28), 2 ** 28)
    await expectLength(pool.run('length', 'x'.repeat(200_000_000)), 200_000_000)
    await until(async () => {
      await collectGarbage()
      const { arrayBuffers, external } = process.memoryUsage()
      return Math.max(arrayBuffers - before.arrayBuffers, external - before.external) < 2 ** 25
    }, 'memory does not come back')
  },
}
