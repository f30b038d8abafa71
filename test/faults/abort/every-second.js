import { expect, fulfilled, rejected } from '../harness/expect.js'

const count = 6_000

export default {
  title: 'Every second of 6,000 queued tasks is aborted. Only the others run, each once.',
  limitMs: 90_000,
  isLong: true,
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const first = pool.run('gated', 0)
    await facts.reach(1, 'started')
    const calls = Array.from({ length: count }, (_, number) =>
      pool.run('noted', number, { isAbortable: true }),
    )
    for (const [number, call] of calls.entries()) if (number % 2 === 0) call.abort()
    facts.openGate()
    await fulfilled(first, 0)
    for (const [number, call] of calls.entries()) {
      if (number % 2 === 0) await rejected(call)
      else await fulfilled(call, number)
    }
    const ran = facts.numbers('ran')
    expect(ran.length === count / 2, `${ran.length} tasks ran`)
    expect(new Set(ran).size === ran.length, 'a task ran twice')
    expect(
      ran.every(number => number % 2 === 1),
      'an aborted task ran',
    )
  },
}
