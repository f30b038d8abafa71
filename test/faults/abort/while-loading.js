import { expect, pause, rejected, untilItWorks } from '../harness/expect.js'

export default {
  title: 'Aborting a task while its worker loads rejects at once, and the pool works on.',
  async run({ open, aWorkerStarts, facts }) {
    const pool = open({ workers: 1, file: 'slow.js' })
    const call = pool.run('noted', 1, { isAbortable: true })
    await aWorkerStarts()
    await pause(200)
    call.abort()
    await rejected(call)
    await untilItWorks(pool, 'noted', 2)
    expect(!facts.numbers('ran').includes(1), 'the aborted task ran')
  },
}
