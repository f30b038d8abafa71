import { expect, fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'The pool runs maxWorkers × concurrentTasksPerWorker tasks at once, and never more.',
  async run({ open, has, facts }) {
    const slots = has('slots') ? 2 : 1
    const pool = open({ workers: 2, slots })
    const calls = Array.from({ length: 12 }, (_, number) => pool.run('gated', number))
    await facts.reach(2 * slots, 'started')
    await pause(300)
    const started = facts.numbers('started').length
    expect(started === 2 * slots, `${started} tasks run at once, ${2 * slots} may`)
    facts.openGate()
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
  },
}
