import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title:
    'An execArgv that workers do not allow is an error at construction or of run(), never a hang or an uncaught exception.',
  backends: ['thread'],
  async run({ open, needs }) {
    needs('execArgv')
    let pool
    try {
      pool = open({ workers: 1, execArgv: ['--title=worker', '--expose-gc'] })
    } catch (error) {
      if (error.verdict !== undefined) throw error
    }
    if (pool !== undefined) await rejected(pool.run('echo', 1))
    await fulfilled(open({ workers: 1 }).run('echo', 1), 1)
  },
}
