// Handlers that record their progress in shared words, and wait for a gate that the test opens. The words have the places of
// `held.js`.
import { context } from 'lido/worker'

const STARTED = 0
const CANCELLED = 1
const FINISHED = 2
const GATE = 3

export default value => value

export function twice(number) {
  return number * 2
}

export async function held(words) {
  const { signal } = context
  count(words, STARTED)
  const gone = new Promise(resolve => {
    if (signal.aborted) resolve(true)
    else signal.addEventListener('abort', () => resolve(true))
  })
  const isCancelled = await Promise.race([gone, opened(words)])
  count(words, isCancelled ? CANCELLED : FINISHED)
  return 'done'
}

export function fail(message) {
  throw Object.assign(new RangeError(message), { statusCode: 422 })
}

export function die() {
  process.exit(3)
}

export function spin(ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
  return ms
}

async function opened(words) {
  while (Atomics.load(words, GATE) === 0) await Atomics.waitAsync(words, GATE, 0, 500).value
  return false
}

function count(words, place) {
  Atomics.add(words, place, 1)
  Atomics.notify(words, place)
}
