// What a promise was rejected with, as a value, so that several things can be asserted of it.
import assert from 'node:assert/strict'

export async function rejection(promise) {
  const [outcome] = await Promise.allSettled([promise])
  assert.equal(outcome.status, 'rejected', `expected a rejection, got ${String(outcome.value)}`)
  return outcome.reason
}

/** All of many, in order. */
export async function rejections(promises) {
  const outcomes = await Promise.allSettled(promises)
  const fulfilled = outcomes.filter(outcome => outcome.status === 'fulfilled')
  assert.equal(fulfilled.length, 0, `${fulfilled.length} of ${outcomes.length} were not rejected`)
  return outcomes.map(outcome => outcome.reason)
}
