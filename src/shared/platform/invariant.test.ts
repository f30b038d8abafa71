// Invariants speak of our bugs only, and say so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invariant, unreachable } from './invariant.js'

test('an invariant that holds is silent, a broken one says what must hold', () => {
  invariant(true, 'never read')
  assert.throws(
    () => invariant(false, 'the sky is up'),
    /invariant broken: the sky is up\. Please report this/,
  )
})

test('an unexpected message is shown in the complaint', () => {
  assert.throws(() => unreachable({ kind: 'odd' } as never), /unexpected \{"kind":"odd"\}/)
})
