// Warns, once for each handler of the program, when the metrics show that a worker does not help.
import type { HandlerCheck, HandlerStats } from './handler-metrics.js'

export interface PerformanceWarning {
  code: 'LIDO_WAITING_HANDLER' | 'LIDO_TINY_HANDLER'
  text: string
}

/** A handler waits when the event loop is active for less than this share of its run time. */
const WAITING_SHARE = 0.2
const WAITING_MIN_RUN_MS = 1
const WAITING_MIN_TASKS = 20
const WAITING_MIN_TOTAL_MS = 500
/** Tiny tasks are sampled: this many samples stand for 100,000 tasks or more. */
const TINY_MIN_TASKS = 500
const MAX_WARNED = 256
const TURN_OFF = "The option 'performanceWarnings: false' turns this off."

/** Handlers of all pools of this thread. */
const warned = new Set<string>()

export class PerformanceWarnings implements HandlerCheck {
  readonly #label: string
  readonly #slotsPerWorker: number

  /** @param label the option of the pool */
  constructor(label: string, slotsPerWorker: number) {
    this.#label = label
    this.#slotsPerWorker = slotsPerWorker
  }

  check(handler: HandlerStats, handOverMs: number | null): void {
    const key = `${handler.filename}#${handler.name}`
    if (warned.has(key) || warned.size >= MAX_WARNED) return
    const warning = performanceWarning(handler, handOverMs, this.#slotsPerWorker)
    if (warning === null) return
    warned.add(key)
    process.emitWarning(`Pool '${this.#label}': ${warning.text}`, { type: 'LidoWarning', code: warning.code })
  }
}

/** @param slotsPerWorker with more than one, handlers are expected to wait */
export function performanceWarning(
  handler: HandlerStats,
  handOverMs: number | null,
  slotsPerWorker: number,
): PerformanceWarning | null {
  if (slotsPerWorker === 1 && isWaiting(handler)) return waitingWarning(handler)
  if (handOverMs !== null && handler.measured >= TINY_MIN_TASKS && handler.runMs < handOverMs)
    return tinyWarning(handler, handOverMs)
  return null
}

function isWaiting({ measured, runMs, activeMs }: HandlerStats): boolean {
  const isKnown = measured >= WAITING_MIN_TASKS && measured * runMs >= WAITING_MIN_TOTAL_MS
  return isKnown && runMs >= WAITING_MIN_RUN_MS && activeMs <= WAITING_SHARE * runMs
}

function waitingWarning({ filename, name, measured, runMs, activeMs }: HandlerStats): PerformanceWarning {
  const figures = `It ran for ${inMs(runMs)} and was active for ${inMs(activeMs)} (means of ${measured} tasks).`
  return {
    code: 'LIDO_WAITING_HANDLER',
    text:
      `The handler '${name}' of ${filename} mostly waits. ${figures} Workers help handlers that compute. ` +
      'Call it on the event loop, or let several of its tasks share a worker ' +
      `('concurrentTasksPerWorker'). ${TURN_OFF}`,
  }
}

function tinyWarning(
  { filename, name, measured, runMs }: HandlerStats,
  handOverMs: number,
): PerformanceWarning {
  const figures = `It ran for ${inMs(runMs)}, and handing a task over took ${inMs(handOverMs)} (means of ${measured} tasks).`
  return {
    code: 'LIDO_TINY_HANDLER',
    text:
      `The handler '${name}' of ${filename} is too short for a worker. ${figures} ` +
      `Call it directly, or pass more work in one task. ${TURN_OFF}`,
  }
}

function inMs(milliseconds: number): string {
  return `${Number(milliseconds.toPrecision(2))} ms`
}
