import { fulfilled, pause } from '../harness/expect.js'

export default {
  title:
    'A worker that dies just after returning: the task settles (its result is not lost), later tasks run.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    for (let round = 0; round < 5; round++) {
      await fulfilled(pool.run('exitAfterwards', round), round)
      // It is the death just after an answer that is judged here, not the task that meets a dying worker.
      await pause(300)
      await fulfilled(pool.run('echo', round), round)
    }
  },
}
