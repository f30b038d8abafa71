import { existsSync, readdirSync } from 'node:fs'
import { expect, fulfilled, pause } from '../harness/expect.js'
import { Skipped } from '../harness/verdicts.js'

const threads = '/proc/self/task'

export default {
  title: 'Thirty pools that nobody closes or holds are stopped, or a warning tells of them.',
  backends: ['thread'],
  async run({ startSubject }) {
    if (!existsSync(threads)) throw new Skipped('the system does not list the threads of a process')
    const { output, errors } = await startSubject({ nodeArguments: ['--expose-gc'] }).end(30_000)
    const left = Number(/left (\d+)/.exec(output)?.[1])
    expect(left < 5 || /Warning: .*pool/i.test(errors), `${left} threads are left, and nothing tells of them`)
  },
  async subject({ open }) {
    const before = readdirSync(threads).length
    const useOne = async number => {
      const pool = open({ workers: 1 })
      await fulfilled(pool.run('echo', number), number)
    }
    for (let number = 0; number < 30; number++) await useOne(number)
    for (let round = 0; round < 30; round++) {
      globalThis.gc()
      await pause(20)
    }
    console.log(`left ${Math.max(0, readdirSync(threads).length - before)}`)
    process.exit()
  },
}
