import { expect, fulfilled, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'A stack overflow in a task rejects with RangeError, and the worker survives.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    const error = await rejected(pool.run('overflow'))
    expect(tells(error, 'RangeError') || tells(error, 'Maximum call stack'), `rejected with ${say(error)}`)
    await fulfilled(pool.run('whoAmI'), before)
  },
}
