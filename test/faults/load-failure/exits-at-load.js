import { expect, pause, rejected } from '../harness/expect.js'

export default {
  title: 'A file that calls process.exit() at load rejects run(), without endless restarts.',
  backends: ['thread', 'process'],
  async run({ open, workers }) {
    const pool = open({ workers: 2, file: 'broken/exits.js' })
    const calls = Array.from({ length: 5 }, (_, number) => pool.run('echo', number))
    for (const call of calls) await rejected(call)
    const { started } = workers
    expect(started > 0, 'no worker was started')
    await pause(1_500)
    expect(workers.started - started <= 10, `${workers.started - started} more workers started in 1.5 s`)
  },
}
