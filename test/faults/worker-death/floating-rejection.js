import { fulfilled, settled } from '../harness/expect.js'

export default {
  title: 'A floating rejection in a worker settles its task, and the pool works on.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    await settled(pool.run('floats'))
    await fulfilled(pool.run('echo', 1), 1)
  },
}
