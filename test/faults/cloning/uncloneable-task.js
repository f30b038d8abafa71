import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'An uncloneable payload rejects its call and does no other harm.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    expect(typeof before === 'string', 'no answer')
    await rejected(
      pool.run('echo', () => {}),
      { mayThrow: false },
    )
    await rejected(pool.run('echo', { deep: [{ callback() {} }] }), { mayThrow: false })
    await fulfilled(pool.run('whoAmI'), before)
  },
}
