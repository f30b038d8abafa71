// Queues microtasks that fake timers of test frameworks do not delay, although the frameworks replace `queueMicrotask`.
import { realClock } from './clock.js'

const { queueMicrotask } = globalThis
const settled = Promise.resolve()

/** The way to queue a microtask. The simulation replaces it. */
export const microtasks: { post: (callback: () => void) => void } = { post: afterPromise }

let isNodes = false
queueMicrotask?.(() => {
  isNodes = true
})
// A real `queueMicrotask` has called back before this callback, which was queued later. A fake one has not.
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
