// The code of workers that a bundle contains. The condition `module` makes Node load it as bundlers do.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('the code of workers in a bundle passes the main tests of each backend', () => {
  const file = fileURLToPath(new URL('./backends.test.js', import.meta.url))
  const args = ['--conditions=module', '--test', '--test-reporter=tap', file]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: 120_000 })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^# pass 4$/m)
})
