import { expect } from '../harness/expect.js'

export default {
  title: "A caller's exception in .then() of a task ends the process with code 1.",
  async run({ startSubject }) {
    const { exitCode, signal, errors } = await startSubject().end()
    expect(errors.includes('of the caller'), `nothing tells of it: ${errors.slice(0, 300)}`)
    expect(exitCode === 1, `the process ended (${signal ?? exitCode})`)
  },
  async subject({ open }) {
    const pool = open({ workers: 1 })
    const value = await pool.promise('echo', 1)
    pool.promise('echo', value).then(() => {
      if (value === 1) throw new Error('of the caller')
    })
  },
}
