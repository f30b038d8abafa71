import { expect, fulfilled, settled } from '../harness/expect.js'

const count = 40

export default {
  title: 'Writes that a handler did not await are complete when the pool is closed.',
  backends: ['thread', 'process'],
  async run({ open, has, facts }) {
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('leaveWrites', count), 'answered')
    await settled(has('close') ? pool.close() : pool.destroy())
    const left = facts.lines('left').length
    expect(left === count, `${left} of ${count} writes`)
  },
}
