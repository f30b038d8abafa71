import { fulfilled, pause } from '../harness/expect.js'

export default {
  title: 'Two destroy() calls at once, and a later one, all resolve.',
  async run({ open }) {
    const pool = open({ workers: 2 })
    await fulfilled(pool.run('echo', 1), 1)
    const ends = [pool.destroy(), pool.destroy()]
    for (const end of ends) await fulfilled(end)
    await pause(50)
    await fulfilled(pool.destroy())
  },
}
