import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fulfilled, pause, settled } from '../harness/expect.js'

const rounds = 90
const fileCount = 500

export default {
  title: 'destroy() never aborts the process while workers load 500 files, in 90 rounds.',
  limitMs: 150_000,
  isLong: true,
  async run({ open, needs, facts }) {
    needs('files')
    const files = Array.from({ length: fileCount }, (_, number) => join(facts.folder, `task-${number}.mjs`))
    for (const file of files) writeFileSync(file, 'export const load = value => value\n')
    for (let round = 0; round < rounds; round++) {
      const pool = open({ workers: 2 })
      const calls = files.map((filename, number) => pool.run('load', number, { filename }))
      // Each round waits for a different time. Every third round waits until the first file has loaded.
      await (round % 3 === 0 ? settled(calls[0]) : pause(round))
      await fulfilled(pool.destroy())
      await settled(calls)
    }
    const last = open({ workers: 1 })
    await fulfilled(last.run('load', 1, { filename: files[0] }), 1)
  },
}
