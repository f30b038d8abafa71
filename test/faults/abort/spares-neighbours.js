import { fulfilled, pause, rejected } from '../harness/expect.js'

export default {
  title: 'Aborting one task does not fail other tasks of the same worker.',
  async run({ open, needs, facts }) {
    needs('slots')
    const pool = open({ workers: 1, slots: 2 })
    const neighbour = pool.run('gated', 1)
    await facts.reach(1, 'started')
    const aborted = pool.run('hang', 2, { isAbortable: true })
    await pause(200)
    aborted.abort()
    await rejected(aborted)
    facts.openGate()
    await fulfilled(neighbour, 1)
    await fulfilled(pool.run('echo', 1), 1)
  },
}
