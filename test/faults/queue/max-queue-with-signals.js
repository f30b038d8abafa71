import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

export default {
  title: 'maxQueue also counts tasks with an AbortSignal.',
  async run({ open, needs, facts }) {
    needs('maxQueue')
    needs('signal')
    const pool = open({ workers: 1, maxQueue: 2 })
    const first = pool.run('gated', 1)
    await facts.reach(1, 'started')
    const { signal } = new AbortController()
    const [second, third, refused] = [2, 3, 4].map(number => pool.run('noted', number, { signal }))
    for (let wait = 0; wait < 20 && refused.isPending; wait++) await pause(50)
    expect(!refused.isPending, 'the task waits')
    await rejected(refused)
    facts.openGate()
    await fulfilled(first, 1)
    await fulfilled(second, 2)
    await fulfilled(third, 3)
  },
}
