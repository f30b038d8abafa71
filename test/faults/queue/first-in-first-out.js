import { expect, fulfilled } from '../harness/expect.js'

export default {
  title: '1,000 tasks on one thread run in the order of submission.',
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const calls = Array.from({ length: 1_000 }, (_, number) => pool.run('noted', number))
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
    const order = facts.numbers('ran')
    const wrong = order.findIndex((number, place) => number !== place)
    expect(wrong < 0, `task ${order[wrong]} ran in place ${wrong}`)
    expect(order.length === 1_000, `${order.length} tasks ran`)
  },
}
