import { expect, fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'close() waits for the longest task when other workers are done earlier.',
  async run({ open, needs, facts }) {
    needs('close')
    const pool = open({ workers: 2 })
    const long = pool.run('gated', 1)
    await facts.reach(1, 'started')
    const short = pool.run('later', { ms: 50, value: 2 })
    const end = pool.close()
    await fulfilled(short, 2)
    await pause(300)
    expect(end.isPending, 'close() did not wait')
    facts.openGate()
    await fulfilled(long, 1)
    await fulfilled(end)
  },
}
