import { fulfilled, settled, until } from '../harness/expect.js'

export default {
  title: '40 threads run 400 tasks, and destroy() ends all threads within 4 s.',
  backends: ['thread', 'process'],
  limitMs: 60_000,
  isLong: true,
  async run({ open, workers }) {
    const pool = open({ workers: 40 })
    const calls = Array.from({ length: 400 }, (_, value) => pool.run('later', { ms: 20, value }))
    await settled(calls, 30_000)
    for (const [value, call] of calls.entries()) await fulfilled(call, value)
    const end = pool.destroy()
    await settled(end, 4_000)
    await fulfilled(end)
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
  },
}
