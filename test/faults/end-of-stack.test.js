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
