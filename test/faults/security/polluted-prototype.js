import { expect, fulfilled, say, within } from '../harness/expect.js'

const pollution = {
  filename: '/no/such/file.js',
  name: 'exit',
  signal: AbortSignal.abort(),
  transferList: [{}],
}

export default {
  title: 'A polluted Object.prototype does not change the options of run().',
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 0), 0)
    let promise
    // The pollution lasts only for the call, because it would break Node itself afterwards.
    for (const [key, value] of Object.entries(pollution))
      Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true })
    try {
      promise = pool.promise('echo', 1)
    } finally {
      for (const key of Object.keys(pollution)) delete Object.prototype[key]
    }
    const result = await within(promise, 'the polluted call')
    expect(result === 1, `it gave ${say(result)}`)
    await fulfilled(pool.run('echo', 2), 2)
  },
}
