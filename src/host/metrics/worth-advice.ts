// Whether figures say that a handler is none for workers. Decides, and tells nobody.
import type { HandlerStats } from './handler-stats.js'

export interface Advice {
  code: 'LIDO_WAITING_HANDLER' | 'LIDO_TINY_HANDLER'
  text: string
}

/** With its event loop at work for less of its time than this, a handler waits. */
const WAITING_SHARE = 0.2
/** What is over in a moment need not be judged. */
const WAITING_LEAST_RUN_MS = 1
const WAITING_LEAST_TASKS = 20
const WAITING_LEAST_SUM_MS = 500
/** One in many is measured, so these stand for a hundred thousand and more. */
const TINY_LEAST_TASKS = 500

/** `null` while there is nothing to say. @param slotsPerWorker with more than one, waiting is what the worker is for */
export function adviceOn(handler: HandlerStats, slotsPerWorker: number): Advice | null {
  const { filename, name, measured, runMs, activeMs, handOverMs } = handler
  const who = `'${name}' of ${filename}`
  const isKnownWaiting = measured >= WAITING_LEAST_TASKS && measured * runMs >= WAITING_LEAST_SUM_MS
  if (
    slotsPerWorker === 1 &&
    isKnownWaiting &&
    runMs >= WAITING_LEAST_RUN_MS &&
    activeMs <= WAITING_SHARE * runMs
  ) {
    return {
      code: 'LIDO_WAITING_HANDLER',
      text:
        `${who} was at work for ${inMs(activeMs)} of the ${inMs(runMs)} that it ran (means of ${measured} tasks): it waits, and keeps ` +
        'a worker from working. Workers help what computes; what awaits I/O is better called on the event loop, or ' +
        `many at a time in one worker ('concurrentTasksPerWorker'). ${TURN_OFF}`,
    }
  }
  if (measured >= TINY_LEAST_TASKS && runMs < handOverMs) {
    return {
      code: 'LIDO_TINY_HANDLER',
      text:
        `${who} ran for ${inMs(runMs)} a task, and handing a task over took this thread ${inMs(handOverMs)} (means; ${measured} tasks ` +
        `measured in workers): calling it here would be faster. Call it directly, or hand over more at a time. ${TURN_OFF}`,
    }
  }
  return null
}

const TURN_OFF = "The option 'worthWarnings: false' turns this off."

function inMs(milliseconds: number): string {
  return `${Number(milliseconds.toPrecision(2))} ms`
}
