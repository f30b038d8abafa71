import { expect, settled } from '../harness/expect.js'

export default {
  title: 'destroy() lets a worker that waits exit by itself: its exit listeners run.',
  backends: ['thread', 'process'],
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    pool.run('hangUntilExit')
    await facts.reach(1, 'hanging')
    await settled(pool.destroy())
    expect(facts.lines('exited').length === 1, 'the worker was killed')
  },
}
