// The look for the next task.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateClaims, allowSpin, announcePost, maySpin } from '../shared/channel/claims.js'
import { Spinner } from './spinner.js'

test('a new worker may not spin before the host allows it', () => {
  const claims = allocateClaims(3)
  assert.equal(maySpin(claims), false)
  allowSpin(claims, true)
  assert.equal(maySpin(claims), true)
  allowSpin(claims, false)
  assert.equal(maySpin(claims), false)
})

test('it ends when a task was posted, and when none was', () => {
  const claims = allocateClaims(3)
  allowSpin(claims, true)
  const spinner = new Spinner(claims)
  for (let look = 0; look < 100; look++) spinner.lookOut(0)
  announcePost(claims, 1)
  spinner.lookOut(0)
  assert.equal(maySpin(claims), true)
})

test('its words leave those of the slots alone', () => {
  const claims = allocateClaims(2)
  allowSpin(claims, true)
  announcePost(claims, 7)
  assert.deepEqual([...claims], [0, 0, 0, 0, 1, 7])
})
