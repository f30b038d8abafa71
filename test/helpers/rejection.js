// Returns the reason of a rejected promise, so that a test can make several assertions about it.
import assert from 'node:assert/strict'

export async function rejection(promise) {
  const [outcome] = await Promise.allSettled([promise])
  assert.equal(outcome.status, 'rejected', `expected a rejection, got ${String(outcome.value)}`)
  return outcome.reason
}

/** The reasons of several rejected promises, in order. */
export async function rejections(promises) {
  const outcomes = await Promise.allSettled(promises)
  const fulfilled = outcomes.filter(outcome => outcome.status === 'fulfilled')
  assert.equal(fulfilled.length, 0, `${fulfilled.length} of ${outcomes.length} were not rejected`)
  return outcomes.map(outcome => outcome.reason)
}
