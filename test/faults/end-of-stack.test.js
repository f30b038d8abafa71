// A recursion that runs away may call `run()` from its last frames: that call may fail, and no other one suffers for it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('./stack/far-down.js', import.meta.url))
const ways = {
  lane: {},
  port: { lane: false },
  processes: { backend: 'process' },
  inline: { backend: 'inline' },
}

for (const [way, options] of Object.entries(ways)) {
  test(`a call from the end of the stack leaves nothing behind (${way})`, { timeout: 120_000 }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(options)], {
      maxBuffer: 2 ** 26,
    })
    const { failed, answered, leftover } = JSON.parse(stdout)
    assert.equal(leftover, null)
    // Near enough to its end for some to fail, and far enough from it for others not to.
    assert.ok(failed > 0 && answered > 0, `${failed} failed, ${answered} were answered`)
  })
}

const ends = fileURLToPath(new URL('./stack/ends-far-down.js', import.meta.url))
for (const [way, step] of [
  ['inline', 15],
  ['lane', 30],
]) {
  test(`what a pool is asked for from the end of the stack is done or fails, and can be asked for again (${way})`, {
    timeout: 120_000,
  }, async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [ends, JSON.stringify([ways[way], step])],
      { maxBuffer: 2 ** 26 },
    )
    for (const [deed, { failed, done, stuck }] of Object.entries(JSON.parse(stdout))) {
      assert.deepEqual(stuck, [], deed)
      assert.ok(failed > 0 && done > 0, `${deed}: ${failed} failed, ${done} were done`)
    }
  })
}
