import { fulfilled, until } from '../harness/expect.js'
import { expectNoMoreThan, measureHandles } from '../harness/resources.js'

export default {
  title: 'After destroy() no MessagePort, worker or timer of the pool is active.',
  async run({ open, workers }) {
    const before = await measureHandles()
    const pool = open({ workers: 2 })
    const calls = [1, 2, 3, 4].map(number => pool.run('echo', number))
    for (const [index, call] of calls.entries()) await fulfilled(call, index + 1)
    await fulfilled(pool.destroy())
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
    // Node keeps some descriptors and threads of its own for later workers.
    await expectNoMoreThan({
      ...before,
      descriptors: Number.POSITIVE_INFINITY,
      threads: Number.POSITIVE_INFINITY,
    })
  },
}
