import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, rejected, say, tells } from '../harness/expect.js'

export default {
  title: "A syntax error in the worker's file rejects every run() with the SyntaxError at once.",
  async run({ open, facts }) {
    const file = join(facts.folder, 'syntax.mjs')
    writeFileSync(file, 'export default function ( {\n')
    const pool = open({ workers: 2, file })
    const calls = Array.from({ length: 5 }, (_, number) => pool.run('echo', number))
    for (const call of calls) {
      const error = await rejected(call)
      expect(tells(error, 'SyntaxError'), `rejected with ${say(error)}`)
    }
  },
}
