import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fulfilled, rejected } from '../harness/expect.js'

export default {
  title: 'A task name with slashes never selects a function of another file.',
  async run({ open, needs, facts }) {
    needs('files')
    const file = join(facts.folder, 'other.mjs')
    writeFileSync(file, "export const secret = () => 'of another file'\n")
    const pool = open({ workers: 1 })
    await fulfilled(pool.run('secret', 1, { filename: file }), 'of another file')
    await rejected(pool.run('other.mjs/secret', 1, { filename: facts.folder }))
    await fulfilled(pool.run('echo', 1), 1)
  },
}
