import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'run() during close() rejects at once and does not disturb the close.',
  async run({ open, needs, facts }) {
    needs('close')
    const pool = open({ workers: 1 })
    const accepted = pool.run('gated', 1)
    await facts.reach(1, 'started')
    const end = pool.close()
    await rejected(pool.run('noted', 2))
    facts.openGate()
    await fulfilled(accepted, 1)
    await fulfilled(end)
    expect(facts.numbers('ran').length === 0, 'the rejected task ran')
  },
}
