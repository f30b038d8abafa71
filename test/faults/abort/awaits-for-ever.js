import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title:
    'Aborting a task that awaits for ever frees its slot: with one thread and one slot the next task runs.',
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
