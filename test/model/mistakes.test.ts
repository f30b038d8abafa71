// The model would notice: each of these mistakes is found, in the shortest order that shows it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mistakes } from './mistakes.js'
import { copyWith } from './patched-copy.js'

describe('a mistake in the lane is found', () => {
  for (const [index, mistake] of mistakes.entries()) {
    test(mistake.title, async t => {
      const copy = await copyWith(mistake, String(index))
      const { plan } = mistake
      const { wrong } = plan === 'ring' ? copy.checkRing() : copy.check({ title: mistake.title, ...plan })
      copy.remove()
      assert.ok(wrong !== null, 'no order shows it')
      t.diagnostic(
        `${wrong.what}, after ${wrong.order.length} steps; the last are\n${wrong.order.slice(-8).join('\n')}`,
      )
    })
  }
})
