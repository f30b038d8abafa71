import { expect } from '../harness/expect.js'

export default {
  title: 'process.exit(5) on the host during endless loops and starts exits with 5 at once.',
  backends: ['thread', 'process'],
  limitMs: 120_000,
  isLong: true,
  async run({ startSubject }) {
    for (let round = 0; round < 10; round++) {
      const { exitCode, signal, errors } = await startSubject().end()
      expect(exitCode === 5, `the process ended (${signal ?? exitCode}): ${errors.slice(0, 300)}`)
    }
  },
  async subject({ open, facts }) {
    const pool = open({ min: 1, max: 4 })
    const calls = [pool.run('spin'), pool.run('spin'), pool.run('spin'), pool.run('spin')]
    const before = facts.lines('spinning').length
    await facts.reach(before + 1, 'spinning')
    if (calls.every(call => call.isPending)) process.exit(5)
  },
}
