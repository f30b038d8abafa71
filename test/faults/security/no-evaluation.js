import { expect, fulfilled, settled } from '../harness/expect.js'

const names = [
  'run',
  'eval',
  'Function',
  'constructor',
  'methods',
  'import',
  'require',
  'default.constructor',
  'call',
]
const codes = [
  'globalThis.isReached = true',
  'function () { globalThis.isReached = true }',
  '() => (globalThis.isReached = true)',
]

export default {
  title: 'No task name reaches a builtin that evaluates its argument.',
  async run({ open }) {
    const pool = open({ workers: 1 })
    for (const name of names) for (const code of codes) await settled(pool.run(name, code))
    const isReached = await fulfilled(pool.run('readGlobal', 'isReached'))
    expect(isReached === undefined, 'the code ran')
    await fulfilled(pool.run('echo', 1), 1)
  },
}
