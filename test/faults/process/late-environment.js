import { expect, fulfilled } from '../harness/expect.js'

export default {
  title: 'Workers see the environment of the time when their pool was created.',
  backends: ['thread', 'process'],
  async run({ open }) {
    process.env.FAULT_EARLY = 'early'
    const pool = open({ min: 0, max: 2 })
    process.env.FAULT_LATE = 'late'
    try {
      await fulfilled(pool.run('readVariable', 'FAULT_EARLY'), 'early')
      const late = await fulfilled(pool.run('readVariable', 'FAULT_LATE'))
      expect(late === undefined || late === null, 'a worker sees a variable that was set later')
    } finally {
      delete process.env.FAULT_EARLY
      delete process.env.FAULT_LATE
    }
  },
}
