import { fulfilled, settled, until } from '../harness/expect.js'

export default {
  title: 'close() and destroy() of an unused pool settle at once, with or without threads.',
  async run({ open, has, workers }) {
    const ways = has('close') ? ['close', 'destroy'] : ['destroy']
    for (const way of ways) {
      for (const min of [0, 2]) {
        const end = open({ min, max: 2 })[way]()
        await settled(end, 3_000)
        await fulfilled(end)
      }
    }
    await until(
      () => workers.living === 0,
      () => `${workers.living} workers live on`,
    )
    // Proves that such a pool works.
    await fulfilled(open({ min: 0, max: 2 }).run('echo', 1), 1)
  },
}
