import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'process.exit() in a task rejects that task soon, and the pool works on.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    await rejected(pool.run('exit', 7))
    await fulfilled(pool.run('echo', 1), 1)
  },
}
