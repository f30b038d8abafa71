import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'A task that throws a symbol or a function rejects, and the worker survives.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    expect(typeof before === 'string', 'no answer')
    for (const kind of ['symbol', 'function']) await rejected(pool.run('fail', kind))
    await fulfilled(pool.run('whoAmI'), before)
  },
}
