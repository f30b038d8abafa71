import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'When all workers die under load, only running tasks fail and replacements serve the queue.',
  backends: ['thread', 'process'],
  async run({ open, workers, facts }) {
    const pool = open({ workers: 2 })
    const calls = Array.from({ length: 20 }, (_, number) => pool.run('gated', number))
    await facts.reach(2, 'started')
    const running = facts.numbers('started')
    workers.endAll()
    for (const number of running) await rejected(calls[number])
    facts.openGate()
    for (const [number, call] of calls.entries()) if (!running.includes(number)) await fulfilled(call, number)
  },
}
