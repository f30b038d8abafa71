import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

export default {
  title:
    'A task waiting for a task of its own pool with all threads taken can be aborted, and then everything settles.',
  backends: ['thread', 'process'],
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const waiting = pool.run('gated', 1, { isAbortable: true })
    await facts.reach(1, 'started')
    const awaited = pool.run('openGate', 2)
    await pause(100)
    expect(waiting.isPending, 'it did not wait')
    waiting.abort()
    await rejected(waiting)
    await fulfilled(awaited, 2)
  },
}
