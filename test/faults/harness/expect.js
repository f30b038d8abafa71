// What scenarios ask of a pool. Each question has a limit, and says which promise it waited for.
import { isDeepStrictEqual } from 'node:util'
import { answerLimitMs, countDown, pause } from './patience.js'
import { Failure, NoAnswer } from './verdicts.js'

export { pause }

export function expect(isSo, complaint) {
  if (!isSo) throw new Failure(complaint)
}

/** The promise's value; the pool hangs when it takes longer. */
export async function within(promise, what, limitMs = answerLimitMs) {
  let stop
  const limit = new Promise((_, reject) => {
    stop = countDown(limitMs, () => reject(new NoAnswer(`${what}: no answer in ${limitMs / 1000} s`)))
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    stop()
  }
}

/** Looks again and again until it is so. What never becomes so is a failure: the pool did answer. */
export async function until(isSo, complaint, limitMs = answerLimitMs) {
  let isOver = false
  const stop = countDown(limitMs, () => {
    isOver = true
  })
  try {
    while (!(await isSo())) {
      expect(!isOver, typeof complaint === 'function' ? complaint() : complaint)
      await pause(10)
    }
  } finally {
    stop()
  }
}

export async function settled(calls, limitMs) {
  for (const call of [calls].flat()) await within(call.done, call.label, limitMs)
}

/** The value of a call that must be fulfilled, and must be `value` where one is given. */
export async function fulfilled(call, ...values) {
  await settled(call)
  if (call.state !== 'fulfilled') throw new Failure(`${call.label} was rejected: ${say(call.error)}`)
  if (values.length > 0 && !isDeepStrictEqual(call.value, values[0]))
    throw new Failure(`${call.label} gave ${say(call.value)} instead of ${say(values[0])}`)
  return call.value
}

/** The error of a call that must be rejected, and not by an exception of `run()` itself where that matters. */
export async function rejected(call, { mayThrow = true } = {}) {
  await settled(call)
  expect(call.state === 'rejected', `${call.label} was fulfilled with ${say(call.value)}`)
  expect(mayThrow || !call.hasThrown, `${call.label} threw at once: ${say(call.error)}`)
  return call.error
}

/** Asks again until it works: for what becomes possible at a moment that nobody announces. */
export async function untilItWorks(pool, name = 'echo', payload = 1, value = payload) {
  let last
  const isFulfilled = async () => {
    last = pool.run(name, payload)
    await settled(last)
    return last.state === 'fulfilled'
  }
  await until(isFulfilled, () => `${name} goes on to be rejected: ${say(last.error)}`)
  await fulfilled(last, value)
}

/** Whether an error, or what caused it, says this. */
export function tells(error, words) {
  for (let each = error, depth = 0; each != null && depth < 8; each = each.cause, depth++) {
    if (`${each.name ?? ''}: ${each.message ?? each}`.includes(words)) return true
  }
  return false
}

export function say(value) {
  if (value instanceof Error) return `${value.name}: ${String(value.message).slice(0, 160)}`
  try {
    return String(JSON.stringify(value) ?? String(value)).slice(0, 160)
  } catch {
    return typeof value
  }
}
