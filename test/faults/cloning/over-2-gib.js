import { expect, fulfilled, settled, untilItWorks } from '../harness/expect.js'

export default {
  title: 'A result over 2 GiB resolves or rejects. It never hangs or aborts the process.',
  limitMs: 240_000,
  isHeavy: true,
  async run({ open, needsMemory }) {
    needsMemory(12)
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    const size = 2 ** 31 + 2 ** 20
    const call = pool.run('makeBytes', size)
    // A busy machine with slow memory takes more than a minute for this copy.
    await settled(call, 200_000)
    if (call.state === 'fulfilled') expect(call.value?.byteLength === size, 'it came back cut')
    await untilItWorks(pool)
  },
}
