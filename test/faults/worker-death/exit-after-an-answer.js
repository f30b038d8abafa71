import { fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'A task whose worker dies right after returning settles, and later tasks run.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    for (let round = 0; round < 5; round++) {
      await fulfilled(pool.run('exitAfterwards', round), round)
      // This scenario judges the answered task only, so no other task is sent to the dying worker.
      await pause(300)
      await fulfilled(pool.run('echo', round), round)
    }
  },
}
