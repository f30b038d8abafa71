import { expect, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'A file that throws at load rejects every run() with that error at once.',
  async run({ open }) {
    const pool = open({ workers: 2, file: 'broken/throws.js' })
    const calls = Array.from({ length: 5 }, (_, number) => pool.run('echo', number))
    for (const call of calls) {
      const error = await rejected(call)
      expect(tells(error, 'broken at load'), `rejected with ${say(error)}`)
    }
    await rejected(pool.run('echo', 6))
  },
}
