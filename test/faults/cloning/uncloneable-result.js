import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An uncloneable result does not end its worker.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    expect(typeof before === 'string', 'no answer')
    await rejected(pool.run('returnFunction'))
    await fulfilled(pool.run('whoAmI'), before)
  },
}
