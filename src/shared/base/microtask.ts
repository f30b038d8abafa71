// Microtasks that no fake timers hold up: test frameworks put their own functions in the places of `queueMicrotask` and
// `process.nextTick`.
import { realClock } from './clock.js'

const settled = Promise.resolve()

/** Calls back in a microtask. What that throws is nobody's: it is uncaught, as from `queueMicrotask`. */
export function inMicrotask(callback: () => void): void {
  void settled.then(callback).catch(failure => {
    realClock.nextTurn(() => {
      throw failure
    })
  })
}
