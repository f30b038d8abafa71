import { expect, fulfilled, say } from '../harness/expect.js'

export default {
  title: 'Special values arrive unchanged in both directions: undefined, null, 0, -0, "", false, NaN, 10n.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    for (const value of [undefined, null, 0, -0, '', false, Number.NaN, 10n]) {
      const result = await fulfilled(pool.run('echo', value))
      expect(Object.is(result, value), `${String(value)} came back as ${say(result)}`)
    }
    await fulfilled(pool.run('isUndefined', undefined), true)
  },
}
