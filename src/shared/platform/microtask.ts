// Microtasks that fake timers do not delay. Test frameworks replace `queueMicrotask`.
import { realClock } from './clock.js'

const { queueMicrotask } = globalThis
const settled = Promise.resolve()

/** The way to queue a microtask. The simulation replaces it. */
export const microtasks: { post: (callback: () => void) => void } = { post: afterPromise }

let isNodes = false
queueMicrotask?.(() => {
  isNodes = true
})
// A `queueMicrotask` that calls back later than a promise is a fake one.
void settled.then(() => {
  if (isNodes) microtasks.post = queueMicrotask
})

/** Calls back in a microtask. An error of the callback is uncaught. */
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
