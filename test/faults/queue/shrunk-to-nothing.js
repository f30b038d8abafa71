import { fulfilled, until } from '../harness/expect.js'

export default {
  title: 'A pool without threads runs the next task. Idle threads exit after idleTimeout.',
  async run({ open, needs, workers }) {
    needs('idleTimeout')
    const pool = open({ min: 0, max: 2, idleTimeoutMs: 100 })
    for (let round = 0; round < 3; round++) {
      const calls = [1, 2].map(number => pool.run('echo', number))
      for (const [index, call] of calls.entries()) await fulfilled(call, index + 1)
      await until(
        () => workers.living === 0,
        () => `${workers.living} workers live on`,
      )
    }
  },
}
