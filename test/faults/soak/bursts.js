import { expect, fulfilled, pause, rejected, until } from '../harness/expect.js'

const roundMs = 300
const rounds = 20

export default {
  title: 'In 6 s of bursts with exits, worker limits hold and all tasks settle.',
  backends: ['thread', 'process'],
  limitMs: 120_000,
  isLong: true,
  async run({ open, workers }) {
    const pool = open({ min: 1, max: 3 })
    for (let round = 0; round < rounds; round++) {
      const calls = Array.from({ length: 12 }, (_, value) => ({
        value,
        call: value % 6 === 5 ? pool.run('exit', 1) : pool.run('later', { ms: 5, value }),
      }))
      for (const { call, value } of calls) {
        if (value % 6 === 5) await rejected(call)
        else await fulfilled(call, value)
      }
      await pause(roundMs / 2)
    }
    expect(workers.mostAtOnce <= 3, `${workers.mostAtOnce} workers lived at once`)
    await until(() => workers.living >= 1, 'no worker lives')
    await fulfilled(pool.run('echo', 1), 1)
  },
}
