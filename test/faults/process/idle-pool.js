import { expect, say } from '../harness/expect.js'

export default {
  title: 'An idle pool that was not closed does not keep the process alive.',
  async run({ startSubject }) {
    const { exitCode, signal, output, errors } = await startSubject().end()
    expect(exitCode === 0, `the process ended (${signal ?? exitCode}): ${errors.slice(0, 300)}`)
    expect(output === 'right\n', `it printed ${say(output)}`)
  },
  async subject({ open }) {
    const pool = open({ workers: 2 })
    if ((await pool.promise('echo', 1)) === 1) process.stdout.write('right\n')
  },
}
