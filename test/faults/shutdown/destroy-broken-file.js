import { expect, fulfilled, pause, rejected, until } from '../harness/expect.js'

export default {
  title: 'destroy() of a pool whose file does not load leaves no thread and no restart.',
  async run({ open, workers, aWorkerStarts }) {
    const pool = open({ workers: 2, file: 'broken/throws.js' })
    const call = pool.run('echo', 1)
    await aWorkerStarts()
    await pause(300)
    await fulfilled(pool.destroy())
    await rejected(call)
    const { started } = workers
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
    await pause(1_000)
    expect(workers.started === started, 'workers are started after the end')
  },
}
