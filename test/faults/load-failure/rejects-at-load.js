import { expect, rejected, say, tells } from '../harness/expect.js'

export default {
  title: 'A top-level await that rejects is reported like other load failures.',
  async run({ open }) {
    const pool = open({ workers: 2, file: 'broken/rejects.js' })
    const calls = Array.from({ length: 5 }, (_, number) => pool.run('echo', number))
    for (const call of calls) {
      const error = await rejected(call)
      expect(tells(error, 'broken at load'), `rejected with ${say(error)}`)
    }
  },
}
