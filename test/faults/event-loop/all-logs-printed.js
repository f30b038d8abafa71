import { expect, settled } from '../harness/expect.js'

const count = 500

export default {
  title: 'All 500 lines that tasks logged are printed before the process ends after destroy().',
  async run({ startSubject }) {
    const { exitCode, signal, output, errors } = await startSubject().end(20_000)
    const lines = output.split('\n').filter(line => line.startsWith('line '))
    expect(exitCode === 0, `the process ended (${signal ?? exitCode}): ${errors.slice(0, 200)}`)
    expect(new Set(lines).size === count, `${new Set(lines).size} of ${count} lines were printed`)
  },
  async subject({ open }) {
    const pool = open({ workers: 2 })
    const calls = Array.from({ length: count }, (_, number) => pool.run('log', `line ${number}`))
    await settled(calls)
    await settled(pool.destroy())
  },
}
