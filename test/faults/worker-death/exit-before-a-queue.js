import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'Only the task that ended its worker fails. Queued tasks run on the replacement.',
  backends: ['thread', 'process'],
  async run({ open }) {
    const pool = open({ workers: 1 })
    const death = pool.run('exit', 7)
    const behind = [1, 2, 3, 4, 5].map(number => pool.run('echo', number))
    await rejected(death)
    for (const [index, call] of behind.entries()) await fulfilled(call, index + 1)
  },
}
