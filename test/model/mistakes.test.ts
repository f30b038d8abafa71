// The model finds each planted mistake. The diagnostic shows the shortest order that leads to it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { copyWith } from '../helpers/patched-copy.js'
import type * as BellModule from './bell-case.js'
import type * as CheckModule from './check.js'
import { mistakes } from './mistakes.js'
import type * as RingModule from './ring-case.js'

describe('planted mistakes in the lane', () => {
  for (const [index, mistake] of mistakes.entries()) {
    test(`the mistake '${mistake.title}' is found`, async t => {
      const copy = copyWith(mistake, `model-${index}`)
      const { plan } = mistake
      const { check } = await copy.load<typeof CheckModule>('test/model/check.js')
      const { checkRing } = await copy.load<typeof RingModule>('test/model/ring-case.js')
      const { checkBell } = await copy.load<typeof BellModule>('test/model/bell-case.js')
      const own = { ring: checkRing, bell: checkBell }
      const { wrong } = typeof plan === 'string' ? own[plan]() : check({ title: mistake.title, ...plan })
      copy.remove()
      assert.ok(wrong !== null, 'no order shows the mistake')
      // Broken code would fail for another reason.
      assert.doesNotMatch(wrong.what, /throws (Reference|Syntax)Error/)
      t.diagnostic(
        `${wrong.what}, after ${wrong.order.length} steps; the last are\n${wrong.order.slice(-8).join('\n')}`,
      )
    })
  }
})
