// Warns when the metrics show that a handler gains nothing from a worker. Warns once for each handler of the program.

import { shorten } from '../../shared/platform/shorten.js'
import type { HandlerCheck, HandlerCost } from './handler-metrics.js'

export interface PerformanceWarning {
  code: 'LIDO_WAITING_HANDLER' | 'LIDO_TINY_HANDLER'
  text: string
}

/** A handler mostly waits if the event loop is active for at most this share of its run time. */
const WAITING_SHARE = 0.2
const WAITING_MIN_RUN_MS = 1
const WAITING_MIN_TASKS = 20
const WAITING_MIN_TOTAL_MS = 500
/** Workers measure only a sample of tiny tasks. This many samples stand for at least 100,000 tasks. */
const TINY_MIN_TASKS = 500
const MAX_WARNED = 256
const TURN_OFF = "Turn this warning off with the option 'performanceWarnings: false'."

/** The handlers that had their warning, of all pools of this thread. */
const warned = new Set<string>()

export class PerformanceWarnings implements HandlerCheck {
  readonly #label: string
  readonly #slotsPerWorker: number

  /** @param label the pool's option `label` */
  constructor(label: string, slotsPerWorker: number) {
    this.#label = label
    this.#slotsPerWorker = slotsPerWorker
  }

  check(handler: HandlerCost, handOverMs: number | null): void {
    const key = `${handler.filename}#${handler.name}`
    if (warned.has(key) || warned.size >= MAX_WARNED) return
    const warning = performanceWarning(handler, handOverMs, this.#slotsPerWorker)
    if (warning === null) return
    warned.add(key)
    process.emitWarning(`Pool '${this.#label}': ${warning.text}`, { type: 'LidoWarning', code: warning.code })
  }
}

/** @param slotsPerWorker handlers may wait without a warning if it is above 1 */
export function performanceWarning(
  handler: HandlerCost,
  handOverMs: number | null,
  slotsPerWorker: number,
): PerformanceWarning | null {
  if (slotsPerWorker === 1 && isWaiting(handler)) return waitingWarning(handler)
  if (handOverMs !== null && handler.measured >= TINY_MIN_TASKS && handler.runMs < handOverMs)
    return tinyWarning(handler, handOverMs)
  return null
}

function isWaiting({ measured, runMs, activeMs }: HandlerCost): boolean {
  const isKnown = measured >= WAITING_MIN_TASKS && measured * runMs >= WAITING_MIN_TOTAL_MS
  return isKnown && runMs >= WAITING_MIN_RUN_MS && activeMs <= WAITING_SHARE * runMs
}

function waitingWarning({ filename, name, measured, runMs, activeMs }: HandlerCost): PerformanceWarning {
  const figures = `On average it ran for ${inMs(runMs)} and worked for ${inMs(activeMs)} (${measured} tasks measured).`
  return {
    code: 'LIDO_WAITING_HANDLER',
    text:
      `The handler '${shorten(name)}' of ${filename} mostly waits, for I/O or for native threads, such as those of sharp. ${figures} ` +
      'A worker only helps a handler that computes in JavaScript. Call the handler on the event loop, or run several of its ' +
      `tasks on one worker ('concurrentTasksPerWorker'). ${TURN_OFF}`,
  }
}

function tinyWarning(
  { filename, name, measured, runMs }: HandlerCost,
  handOverMs: number,
): PerformanceWarning {
  const figures = `On average it ran for ${inMs(runMs)}, and the pool needed ${inMs(handOverMs)} to hand the task over (${measured} tasks measured).`
  return {
    code: 'LIDO_TINY_HANDLER',
    text:
      `The handler '${shorten(name)}' of ${filename} is too short for a worker. ${figures} ` +
      `Call the handler directly, or pass more work in one task. ${TURN_OFF}`,
  }
}

function inMs(milliseconds: number): string {
  return `${Number(milliseconds.toPrecision(2))} ms`
}
