import { expect, fulfilled, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'An unknown task name rejects its run() with the name, without a worker restart.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    const before = await fulfilled(pool.run('whoAmI'))
    expect(typeof before === 'string', 'no answer')
    const error = await rejected(pool.run('nonesuch', 1))
    expect(tells(error, 'nonesuch'), `rejected with ${say(error)}`)
    await fulfilled(pool.run('whoAmI'), before)
  },
}
