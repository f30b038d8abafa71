import { fulfilled } from '../harness/expect.js'

export default {
  title: 'A burst of 4 tasks of 400 ms on a cold pool (0..4 threads) runs in parallel.',
  async run({ open, facts }) {
    const pool = open({ min: 0, max: 4 })
    const calls = [0, 1, 2, 3].map(number => pool.run('gated', number))
    await facts.reach(4, 'started')
    facts.openGate()
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
  },
}
