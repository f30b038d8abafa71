import { expect, pause } from '../harness/expect.js'

export default {
  title: 'A CommonJS file that throws at load is evaluated once per worker.',
  async run({ open, facts }) {
    const pool = open({ workers: 1, file: 'broken/throws.cjs' })
    const call = pool.run('echo', 1)
    await facts.reach(1, 'evaluated')
    for (let wait = 0; wait < 20 && call.isPending; wait++) await pause(50)
    await pause(200)
    const lines = facts.lines('evaluated')
    const times = new Map(lines.map(line => [line, lines.filter(other => other === line).length]))
    expect(Math.max(...times.values()) === 1, `one worker evaluated it ${Math.max(...times.values())} times`)
  },
}
