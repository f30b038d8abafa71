import { fulfilled, rejected, settled } from '../harness/expect.js'

export default {
  title: 'A worker that dies during close() does not stall it, and every accepted task settles.',
  backends: ['thread', 'process'],
  async run({ open, needs, facts }) {
    needs('close')
    const pool = open({ workers: 1 })
    const death = pool.run('exitAtGate')
    const behind = [1, 2, 3].map(number => pool.run('echo', number))
    await facts.reach(1, 'started')
    const end = pool.close()
    facts.openGate()
    await rejected(death)
    await settled(behind)
    for (const [index, call] of behind.entries())
      if (call.state === 'fulfilled') await fulfilled(call, index + 1)
    await fulfilled(end)
  },
}
