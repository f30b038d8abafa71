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

test('it ends when something has come, and when nothing has', () => {
  let looks = 0
  const spinner = new Spinner(() => true)
  assert.equal(
    spinner.lookOut(() => ++looks === 3),
    true,
  )
  for (let look = 0; look < 100; look++) {
    spinner.onWork()
    assert.equal(
      spinner.lookOut(() => false),
      false,
    )
  }
})

test('it looks once in a time without work', () => {
  const spinner = new Spinner(() => true)
  spinner.lookOut(() => false)
  assert.equal(
    spinner.lookOut(() => true),
    false,
  )
  spinner.onWork()
  assert.equal(
    spinner.lookOut(() => true),
    true,
  )
})

test('it does not look where it is not allowed', () => {
  const spinner = new Spinner(() => false)
  assert.equal(
    spinner.lookOut(() => true),
    false,
  )
})

test('its words leave those of the slots alone', () => {
  const claims = allocateClaims(2)
  const others = [...claims].slice(0, -2)
  allowSpin(claims, true)
  announcePost(claims, 7)
  assert.deepEqual([...claims], [...others, 1, 7])
})
