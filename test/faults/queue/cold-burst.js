import { fulfilled } from '../harness/expect.js'

export default {
  title: 'Four tasks on a new pool with 0 to 4 threads run in parallel.',
  async run({ open, facts }) {
    const pool = open({ min: 0, max: 4 })
    const calls = [0, 1, 2, 3].map(number => pool.run('gated', number))
    await facts.reach(4, 'started')
    facts.openGate()
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
  },
}
