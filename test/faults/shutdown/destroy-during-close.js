import { pause, rejected, settled, until } from '../harness/expect.js'

export default {
  title: 'destroy() during close() settles both soon and rejects the stuck task.',
  backends: ['thread', 'process'],
  async run({ open, needs, facts, workers }) {
    needs('close')
    const pool = open({ workers: 1 })
    const stuck = pool.run('spin')
    await facts.reach(1, 'spinning')
    const closed = pool.close()
    await pause(50)
    const destroyed = pool.destroy()
    await settled([closed, destroyed], 3_000)
    await rejected(stuck)
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
  },
}
