import { pause, settled, until, untilItWorks } from '../harness/expect.js'

export default {
  title: 'When a worker dies while it loads, queued tasks run on a replacement or reject.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 1, file: 'slow.js' })
    const call = pool.run('echo', 1)
    await until(() => workers.started > 0, 'no worker was started')
    await pause(200)
    workers.endAll()
    await settled(call)
    await untilItWorks(pool)
  },
}
