import { expect, fulfilled, pause, rejected, untilItWorks } from '../harness/expect.js'

export default {
  title: 'With maxQueue 0 and busy threads, run() rejects at once and the task never runs.',
  async run({ open, needs, facts }) {
    needs('maxQueue')
    const pool = open({ workers: 1, maxQueue: 0 })
    await untilItWorks(pool)
    const first = pool.run('gated', 1)
    await facts.reach(1, 'started')
    const refused = pool.run('noted', 2)
    for (let wait = 0; wait < 20 && refused.isPending; wait++) await pause(50)
    expect(!refused.isPending, 'the task waits')
    await rejected(refused)
    facts.openGate()
    await fulfilled(first, 1)
    await fulfilled(pool.run('echo', 3), 3)
    expect(facts.numbers('ran').length === 0, 'the rejected task ran')
  },
}
