import { rejected, untilItWorks } from '../harness/expect.js'

export default {
  title: 'When no thread can be created, run() rejects. When threads are available again, tasks run.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    workers.isRefusing = true
    const pool = open({ min: 0, max: 1 })
    await rejected(pool.run('echo', 1), { mayThrow: false })
    workers.isRefusing = false
    await untilItWorks(pool)
  },
}
