import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An uncloneable result does not fail the other tasks of its worker.',
  async run({ open, facts, needs }) {
    needs('slots')
    const pool = open({ workers: 1, slots: 2 })
    const other = pool.run('gated', 1)
    await facts.reach(1, 'started')
    await rejected(pool.run('returnFunction'))
    facts.openGate()
    await fulfilled(other, 1)
  },
}
