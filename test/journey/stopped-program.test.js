// A program that was stopped as a whole, for example by SIGSTOP. Its time limits do not count that time.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openFolder } from '../helpers/folder.js'
import { test } from '../helpers/pool-test.js'
import { startProgram } from '../helpers/program.js'
import { untilItWorks } from '../helpers/retry.js'

for (const backend of ['thread', 'process'])
  test(`timeout and queueTimeout do not count a stop of the program (backend: ${backend})`, async (_open, t) => {
    const { path } = openFolder(t)
    const [started, gate] = [join(path, 'started'), join(path, 'gate')]
    const { child, ended } = startProgram(`
      const pool = new Pool({ filename: handler('gated.js'), backend: '${backend}', maxWorkers: 1 })
      await pool.ready()
      const files = ${JSON.stringify({ started, gate })}
      const calls = [
        pool.run(files, { timeout: 2000 }),
        pool.run(files, { queueTimeout: 2000 }),
      ]
      console.log((await Promise.allSettled(calls)).map(call => call.reason?.message ?? call.value).join())
    `)
    await untilItWorks(() => assert.ok(existsSync(started)))
    child.kill('SIGSTOP')
    await pause(4000)
    child.kill('SIGCONT')
    // Longer than the timer of the limits.
    await pause(500)
    writeFileSync(gate, '')
    const { output } = await ended
    assert.equal(output, 'opened,opened\n')
  })
