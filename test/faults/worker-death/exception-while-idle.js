import { fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'An uncaught exception in an idle worker ends only that worker.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 1, needsIdleLoop: true })
    await fulfilled(pool.run('throwWhenIdle', 30), 'answered')
    const { ended } = workers
    for (let tries = 0; tries < 40 && workers.ended === ended; tries++) await pause(25)
    await fulfilled(pool.run('echo', 1), 1)
    await fulfilled(pool.run('echo', 2), 2)
  },
}
