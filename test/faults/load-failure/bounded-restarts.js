import { expect, pause } from '../harness/expect.js'

export default {
  title: 'A file that does not load causes at most 25 worker starts in 2.5 s.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 2, file: 'broken/throws.js' })
    let call = pool.run('echo', 0)
    for (let waiting = 1; waiting < 5; waiting++) pool.run('echo', waiting)
    for (let step = 0; step < 25; step++) {
      await pause(100)
      // A rejected call is repeated.
      if (!call.isPending) call = pool.run('echo', step)
      expect(call.state !== 'fulfilled', 'a file that cannot load gave a result')
    }
    expect(workers.started > 0, 'no worker was started')
    expect(workers.started <= 25, `${workers.started} workers were started in 2.5 s`)
  },
}
