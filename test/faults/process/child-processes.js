import { expect, fulfilled, rejected, until } from '../harness/expect.js'

export default {
  title:
    'With child processes, exits, exceptions and uncloneable results reject, and destroy() leaves no child.',
  // Whatever the backend that is asked for: this one is about processes.
  backends: ['thread', 'process'],
  async run({ open, needs, workers }) {
    needs('processes')
    const pool = open({ workers: 1, backend: 'process' })
    const before = await fulfilled(pool.run('whoAmI'))
    expect(!String(before).startsWith(`${process.pid}-`), 'the task ran in this process')
    for (const name of ['exit', 'throwsMeanwhile', 'returnFunction']) {
      await rejected(pool.run(name, 1))
      await fulfilled(pool.run('echo', name), name)
    }
    await fulfilled(pool.destroy())
    await until(
      () => workers.living === 0,
      () => `${workers.living} children live on`,
    )
  },
}
