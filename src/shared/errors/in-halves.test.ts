import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inHalves } from './in-halves.js'

function count(wrong: readonly number[], mostTries: number) {
  let tries = 0
  const attempt = (part: readonly number[]) => {
    tries++
    if (part.some(item => wrong.includes(item))) throw new Error('one is wrong')
    return part.map(item => `${item}`)
  }
  const done = inHalves(
    Array.from({ length: 100 }, (_, index) => index),
    mostTries,
    attempt,
    () => '-',
  )
  return { tries, failed: done.flatMap((result, index) => (result === '-' ? [index] : [])), done }
}

test('those that are sound are done, in order, and the others cost a few tries each', () => {
  assert.deepEqual(count([], 100), { tries: 1, failed: [], done: Array.from(Array(100).keys(), String) })
  const { tries, failed } = count([7, 61], 100)
  assert.deepEqual(failed, [7, 61])
  assert.ok(tries < 30, `${tries}`)
})

test('no more is tried than may be', () => {
  const all = Array.from(Array(100).keys())
  const { tries, failed } = count(all, 20)
  assert.equal(tries, 20)
  assert.deepEqual(failed, all)
})
