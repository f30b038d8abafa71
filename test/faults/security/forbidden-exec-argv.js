import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'A forbidden execArgv is an error of the constructor or of run(), never a hang.',
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
