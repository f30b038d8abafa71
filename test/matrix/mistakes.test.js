// The matrix finds each planted mistake: cases that pass without the mistake fail with it, and print the expected text.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { copyWith } from '../../build/unit/test/helpers/patched-copy.js'
import { mistakes } from './mistakes.js'
import { played } from './played.js'

const unharmed = new URL('../../build/unit/src/index.js', import.meta.url).href

describe('planted mistakes in the host', () => {
  for (const [index, { title, cases, says, ...patch }] of mistakes.entries()) {
    test(`the mistake '${title}' is found`, async t => {
      const flags = ['--match', cases, '--pool']
      const before = await played(...flags, unharmed)
      assert.equal(before.exitCode, 0, before.output + before.errors)
      const copy = copyWith(patch, `matrix-${index}`)
      t.after(() => copy.remove())
      const after = await played(...flags, copy.urlOf('src/index.js'), '--until-failure')
      assert.equal(after.signal, 'SIGKILL', inspect(after))
      assert.match(after.output, says)
    })
  }
})
