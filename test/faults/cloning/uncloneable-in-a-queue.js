import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An uncloneable payload inside a queue rejects alone, and the other queued tasks run.',
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const first = pool.run('gated', 0)
    await facts.reach(1, 'started')
    const before = pool.run('noted', 1)
    const wrong = pool.run('noted', () => {})
    const behind = pool.run('noted', 2)
    facts.openGate()
    await rejected(wrong)
    await fulfilled(first, 0)
    await fulfilled(before, 1)
    await fulfilled(behind, 2)
  },
}
