import { expect, fulfilled, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'An uncaught exception while a task runs rejects the task with that exception.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    const error = await rejected(pool.run('throwsMeanwhile'))
    expect(tells(error, 'its own words'), `rejected with ${say(error)}`)
    await fulfilled(pool.run('echo', 1), 1)
  },
}
