import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

export default {
  title: 'A task that waits for another task of its full pool can be aborted.',
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
