import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'After the aborts of a queued and then a running task, the third task runs.',
  backends: ['thread', 'process'],
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const first = pool.run('hang', 1, { isAbortable: true })
    await facts.reach(1, 'hanging')
    const second = pool.run('noted', 2, { isAbortable: true })
    const third = pool.run('noted', 3, { isAbortable: true })
    second.abort()
    first.abort()
    await rejected(second)
    await rejected(first)
    await fulfilled(third, 3)
    expect(facts.numbers('ran').join() === '3', 'the aborted task ran')
  },
}
