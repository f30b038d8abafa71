import { expect, fulfilled, rejected, until } from '../harness/expect.js'

export default {
  title: 'After deaths the pool has minWorkers living workers again, and never more than maxWorkers.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ min: 2, max: 3 })
    await fulfilled(pool.run('echo', 1), 1)
    await until(() => workers.living >= 2, 'it never had minWorkers workers')
    const deaths = Array.from({ length: 6 }, () => pool.run('exit', 1))
    for (const death of deaths) await rejected(death)
    const isBack = () => workers.living >= 2 && workers.living <= 3
    await until(isBack, () => `${workers.living} workers live`)
    await fulfilled(pool.run('echo', 2), 2)
    expect(workers.mostAtOnce <= 3, `${workers.mostAtOnce} workers lived at once`)
  },
}
