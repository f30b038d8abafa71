import { fulfilled, rejected, settled, until } from '../harness/expect.js'

export default {
  title: 'destroy() during endless loops rejects all tasks and ends all threads within 3 s.',
  backends: ['thread', 'process'],
  async run({ open, facts, workers }) {
    const pool = open({ workers: 2 })
    const calls = [
      pool.run('spin'),
      pool.run('spin'),
      ...[1, 2, 3, 4, 5].map(number => pool.run('echo', number)),
    ]
    await facts.reach(2, 'spinning')
    const end = pool.destroy()
    await settled(end, 3_000)
    await fulfilled(end)
    for (const call of calls) await rejected(call)
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
  },
}
