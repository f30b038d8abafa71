import { fulfilled, pause, settled, until } from '../harness/expect.js'

export default {
  title: "destroy() settles soon, at any time of a worker's start.",
  limitMs: 90_000,
  async run({ open, workers, aWorkerStarts }) {
    for (const delayMs of [0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 45, 60, 80, 120]) {
      const pool = open({ workers: 2 })
      const call = pool.run('echo', 1)
      if (delayMs > 0) await pause(delayMs)
      const end = pool.destroy()
      await settled(end, 3_000)
      await fulfilled(end)
      await settled(call)
      if (call.state === 'fulfilled') await fulfilled(call, 1)
    }
    await aWorkerStarts()
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
  },
}
