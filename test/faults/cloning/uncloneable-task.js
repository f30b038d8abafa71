import { expect, fulfilled, rejected } from '../harness/expect.js'

export default {
  title:
    'A task value that cannot be cloned rejects (never throws synchronously, never hangs) and costs nothing else.',
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
