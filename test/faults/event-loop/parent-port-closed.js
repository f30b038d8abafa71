import { fulfilled, settled } from '../harness/expect.js'

export default {
  title: 'A task that closes parentPort or removes its listeners settles, and later tasks run.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    await settled(pool.run('closeParentPort', 1))
    await fulfilled(pool.run('echo', 2), 2)
    await fulfilled(pool.run('echo', 3), 3)
  },
}
