import { fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'A worker that exits while idle is replaced, and no later task fails.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 1, needsIdleLoop: true })
    await fulfilled(pool.run('exitWhenIdle', 30), 'answered')
    const { ended } = workers
    // An idle worker that blocks its thread cannot exit by itself. Then the next task wakes it.
    for (let tries = 0; tries < 40 && workers.ended === ended; tries++) await pause(25)
    await fulfilled(pool.run('echo', 1), 1)
    await fulfilled(pool.run('echo', 2), 2)
  },
}
