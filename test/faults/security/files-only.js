import { fulfilled, rejected } from '../harness/expect.js'

const attempts = [
  ['node:child_process', 'execSync', 'true'],
  ['child_process', 'execSync', 'true'],
  ['node:fs', 'existsSync', '/'],
  ['esbuild', 'transformSync', '1'],
  ['data:text/javascript,export const reached = () => 1', 'reached', 1],
]

export default {
  title: 'filename accepts files only: no builtin modules, bare package names or data: URLs.',
  async run({ open, needs }) {
    needs('files')
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('echo', 1), 1)
    for (const [filename, name, payload] of attempts) await rejected(pool.run(name, payload, { filename }))
    await fulfilled(pool.run('echo', 2), 2)
  },
}
