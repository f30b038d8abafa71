// The measuring process reports a blocked event loop in every process of a program.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Child } from '../../examples/shared/child.js'

const measured = new URL('../../examples/shared/measured-process.js', import.meta.url)
const program = fileURLToPath(new URL('./blocking-program.js', import.meta.url))
const forMs = 150

for (const [processes, index] of [
  [1, 0],
  [2, 0],
  [2, 1],
]) {
  test(`the report shows the blocked event loop of process ${index + 1} of ${processes}`, async t => {
    const child = new Child(measured, {}, { MEASURED_PROGRAM: program, PROCESSES: String(processes) })
    t.after(() => child.end())
    await child.next('listening')
    await child.ask('measure', 'measuring')
    child.send({ kind: 'block', index, forMs })
    await child.next('blocked')
    const { loopDelayMs } = await child.ask('report', 'measured')
    assert.ok(loopDelayMs.max > forMs / 2, `${loopDelayMs.max} ms`)
  })
}
