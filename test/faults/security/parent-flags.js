import { expect, fulfilled, say } from '../harness/expect.js'

const nodeArguments = ['--max-old-space-size=512', '--expose-gc', '--title=parent']

export default {
  title: 'A parent with V8 flags and --title can create a pool with env: process.env.',
  async run({ startSubject }) {
    const subject = startSubject({ nodeArguments, environment: { NODE_OPTIONS: '--max-semi-space-size=8' } })
    const { exitCode, signal, output, errors } = await subject.end()
    expect(exitCode === 0, `the process ended (${signal ?? exitCode}): ${errors.slice(0, 300)}`)
    expect(output === 'right\n', `it printed ${say(output)}`)
  },
  async subject({ open }) {
    const pool = open({ workers: 1, env: process.env })
    await fulfilled(pool.run('echo', 1), 1)
    process.stdout.write('right\n', () => process.exit(0))
  },
}
