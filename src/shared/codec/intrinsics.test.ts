import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasNoNamedFields } from './intrinsics.js'

test('the printer of this runtime tells an array with fields from one without', () => {
  const array: unknown[] = new Array(70_000).fill(0)
  assert.equal(hasNoNamedFields(array), true)
  delete array[5]
  Object.assign(array, { extra: 'kept' })
  assert.equal(hasNoNamedFields(array), false)
})
