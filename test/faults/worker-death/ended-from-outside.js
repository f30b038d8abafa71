import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'A worker that is terminated from outside rejects its task, and queued tasks run.',
  backends: ['thread', 'process'],
  async run({ open, workers, facts }) {
    const pool = open({ workers: 1 })
    const [first, ...others] = [1, 2, 3].map(number => pool.run('gated', number))
    await facts.reach(1, 'started')
    workers.endAll()
    await rejected(first)
    facts.openGate()
    for (const [index, call] of others.entries()) await fulfilled(call, index + 2)
  },
}
