import { fulfilled, rejected, until } from '../harness/expect.js'

export default {
  title: 'Aborting an endless loop rejects soon, stops the thread and lets the next task run.',
  backends: ['thread', 'process'],
  async run({ open, facts, workers }) {
    const pool = open({ workers: 1 })
    const call = pool.run('spin', 0, { isAbortable: true })
    await facts.reach(1, 'spinning')
    const { ended } = workers
    call.abort()
    await rejected(call)
    await until(() => workers.ended > ended, 'its worker spins on')
    await fulfilled(pool.run('echo', 1), 1)
  },
}
