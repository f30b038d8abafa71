import { fulfilled } from '../harness/expect.js'

export default {
  title: 'I/O that a task did not await completes soon, although no other task comes.',
  async run({ open, facts }) {
    const pool = open({ workers: 1, needsIdleLoop: true })
    await fulfilled(pool.run('writeLater'), 'answered')
    await facts.reach(1, 'written')
  },
}
