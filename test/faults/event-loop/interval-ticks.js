import { fulfilled } from '../harness/expect.js'

export default {
  title: "A setInterval() of the worker's module ticks while the worker is idle.",
  async run({ open, facts }) {
    const pool = open({ workers: 1, needsIdleLoop: true })
    await fulfilled(pool.run('tick'), 'ticking')
    const before = facts.lines('tick').length
    await facts.reach(before + 10, 'tick')
    await fulfilled(pool.run('echo', 1), 1)
  },
}
