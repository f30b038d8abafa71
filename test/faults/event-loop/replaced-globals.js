import { fulfilled } from '../harness/expect.js'

export default {
  title: 'A handler that replaces process and timers of its worker does not break later tasks.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('replaceGlobals', 1), 1)
    for (let number = 0; number < 5; number++) await fulfilled(pool.run('echo', number), number)
  },
}
