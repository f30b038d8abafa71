// Microtasks that no fake timers hold up: test frameworks put their own function in the place of `queueMicrotask`.
import { realClock } from './clock.js'

const { queueMicrotask } = globalThis
const settled = Promise.resolve()

/** How they are asked for; a test that plays a program's threads puts its own way here. */
export const microtasks: { post: (callback: () => void) => void } = { post: afterPromise }

let isNodes = false
queueMicrotask?.(() => {
  isNodes = true
})
// One that calls back later than a promise does is no queue of microtasks.
void settled.then(() => {
  if (isNodes) microtasks.post = queueMicrotask
})

/** Calls back in a microtask. What that throws is uncaught. */
export function inMicrotask(callback: () => void): void {
  microtasks.post(callback)
}

function afterPromise(callback: () => void): void {
  void settled.then(callback).catch(failure => {
    realClock.nextTurn(() => {
      throw failure
    })
  })
}
