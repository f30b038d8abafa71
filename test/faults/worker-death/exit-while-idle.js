import { fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'A worker that exits while idle is replaced; an innocent later task is not killed.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 1, needsIdleLoop: true })
    await fulfilled(pool.run('exitWhenIdle', 30), 'answered')
    const { ended } = workers
    // A worker that sleeps too deeply to exit by itself has the task for its alarm clock.
    for (let tries = 0; tries < 40 && workers.ended === ended; tries++) await pause(25)
    await fulfilled(pool.run('echo', 1), 1)
    await fulfilled(pool.run('echo', 2), 2)
  },
}
