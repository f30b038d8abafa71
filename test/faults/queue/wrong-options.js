import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'run() with wrong options rejects, and never throws synchronously.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    for (const call of pool.wrongCalls()) await rejected(call, { mayThrow: false })
    await fulfilled(pool.run('echo', 2), 2)
  },
}
