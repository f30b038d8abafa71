import { fulfilled, pause, until } from '../harness/expect.js'

export default {
  title: 'close() finishes running and queued tasks, then resolves without a live thread.',
  async run({ open, needs, facts, workers }) {
    needs('close')
    const pool = open({ workers: 2 })
    const calls = [0, 1, 2, 3, 4, 5, 6, 7].map(number => pool.run('gated', number))
    await facts.reach(2, 'started')
    const end = pool.close()
    await pause(100)
    facts.openGate()
    for (const [number, call] of calls.entries()) await fulfilled(call, number)
    await fulfilled(end)
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
  },
}
