import { expect, fulfilled, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'An error with functions or cycles arrives with its message, and the worker survives.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    for (const [kind, words] of Object.entries({
      functions: 'carries functions',
      cycle: 'carries a cycle',
    })) {
      const error = await rejected(pool.run('fail', kind))
      expect(tells(error, words), `rejected with ${say(error)}`)
    }
    await fulfilled(pool.run('whoAmI'), before)
  },
}
