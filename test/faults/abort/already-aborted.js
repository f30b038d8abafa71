import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An already aborted signal rejects the call at once, and the task never runs.',
  async run({ open, needs, facts }) {
    needs('signal')
    const pool = open({ workers: 1 })
    await rejected(pool.run('noted', 1, { signal: AbortSignal.abort() }))
    await fulfilled(pool.run('noted', 2), 2)
    expect(facts.numbers('ran').join() === '2', 'the aborted task ran')
  },
}
