import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invariant, unreachable } from './invariant.js'

test('invariant() throws only for a false condition, with the given text', () => {
  invariant(true, 'never read')
  assert.throws(
    () => invariant(false, 'the sky is up'),
    /invariant broken: the sky is up\. Please report this/,
  )
})

test('unreachable() throws an error that shows the unexpected value', () => {
  assert.throws(() => unreachable({ kind: 'odd' } as never), /unexpected \{"kind":"odd"\}/)
})
