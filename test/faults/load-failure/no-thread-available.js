import { rejected, untilItWorks } from '../harness/expect.js'

export default {
  title:
    'When a thread cannot be created, run() rejects (never throws synchronously, never hangs); when threads are available again the pool works.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    workers.isRefusing = true
    const pool = open({ min: 0, max: 1 })
    await rejected(pool.run('echo', 1), { mayThrow: false })
    workers.isRefusing = false
    await untilItWorks(pool)
  },
}
