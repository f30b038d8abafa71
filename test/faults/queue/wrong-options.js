import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'run() always returns a promise: wrong options reject, they never throw synchronously.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    for (const call of pool.wrongCalls()) await rejected(call, { mayThrow: false })
    await fulfilled(pool.run('echo', 2), 2)
  },
}
