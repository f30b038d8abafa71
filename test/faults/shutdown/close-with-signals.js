import { fulfilled } from '../harness/expect.js'

export default {
  title: 'close() also finishes accepted tasks with an AbortSignal.',
  async run({ open, needs, facts }) {
    needs('close')
    needs('signal')
    const pool = open({ workers: 2 })
    const { signal } = new AbortController()
    const calls = [0, 1, 2, 3, 4, 5].map(number => pool.run('gated', number, { signal }))
    await facts.reach(2, 'started')
    const end = pool.close()
    facts.openGate()
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
    await fulfilled(end)
  },
}
