import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An aborted task that awaits forever frees its only slot for the next task.',
  backends: ['thread', 'process'],
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const call = pool.run('hang', 0, { isAbortable: true })
    await facts.reach(1, 'hanging')
    const next = pool.run('echo', 1)
    call.abort()
    await rejected(call)
    await fulfilled(next, 1)
  },
}
