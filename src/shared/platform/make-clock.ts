// Clocks and timers. The functions come from Node's modules, because test frameworks replace the global functions.
import { getBuiltinModule, readFileSync } from './node-modules.js'

/** A call that a clock will make. */
export interface Timer {
  /** Prevents the call. */
  cancel(): void
}

/** Keeps the process alive between `hold()` and `release()`. */
export interface Anchor {
  hold(): void
  release(): void
  /** After this the anchor cannot hold again. */
  drop(): void
}

export interface Clock {
  /** Milliseconds on a clock that never jumps. */
  now(): number
  /** Milliseconds since the epoch, on the wall clock, which may jump. Uses the global `Date`, as callers do. */
  epochNow(): number
  /** Calls back once after `delayMs` (`Infinity`: never). Keeps the process alive only with `keepsAlive`. */
  after(delayMs: number, callback: () => void, keepsAlive?: boolean): Timer
  /** Calls back after this turn of the event loop. */
  nextTurn(callback: () => void): Timer
  anchor(): Anchor
  /** Milliseconds in which this thread could run and waited for a core. Costs some microseconds. Only Linux counts them: 0 elsewhere. */
  coreWait(): number
  /** Milliseconds in which the threads of this process used cores. */
  processCpu(): number
}

const LONGEST_DELAY_MS = 2 ** 31 - 1
const NEVER: Timer = { cancel() {} }
const ORIGIN_READINGS = 5
const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } =
  getBuiltinModule('node:timers')
const { hrtime } = getBuiltinModule('node:process')

export interface ThreadClock extends Clock {
  /**
   * The start of this thread's clock on a clock that all threads and processes of the machine share. The `now()` of two
   * threads differ by the difference of their origins.
   */
  origin(): number
  /** Milliseconds in which this thread's event loop was not idle. Blocked time is not idle. */
  active(): number
  /** Milliseconds in which this thread used a core; `null` where Node cannot measure it. */
  onCore(): number | null
}

type CpuUsage = { user: number; system: number }
const { threadCpuUsage } = process as { threadCpuUsage?: () => CpuUsage }

/** The module takes a millisecond to load, so it is loaded on the first use. */
function activeTime(): number {
  return getBuiltinModule('node:perf_hooks').performance.eventLoopUtilization().active
}

function coreWait(): number {
  try {
    const [, waitNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')
    return Number(waitNs) / 1e6
  } catch {
    return 0
  }
}

/** The date of a time on this clock. */
export function dateOn(clock: Pick<Clock, 'now' | 'epochNow'>, time: number): Date {
  return new Date(clock.epochNow() + time - clock.now())
}

export function makeClock(now: () => number): ThreadClock {
  return {
    origin() {
      // A pause between the two readings makes the result too small, never too large.
      const readings = Array.from({ length: ORIGIN_READINGS }, () => Number(hrtime.bigint()) / 1e6 - now())
      return Math.max(...readings)
    },
    active: activeTime,
    onCore() {
      if (threadCpuUsage === undefined) return null
      const { user, system } = threadCpuUsage()
      return (user + system) / 1000
    },
    now,
    epochNow: () => Date.now(),
    after(delayMs, callback, keepsAlive = false) {
      if (delayMs === Number.POSITIVE_INFINITY) return NEVER
      const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS))
      if (!keepsAlive) timer.unref()
      return { cancel: () => clearTimeout(timer) }
    },
    nextTurn(callback) {
      const immediate = setImmediate(callback)
      return { cancel: () => clearImmediate(immediate) }
    },
    coreWait,
    processCpu() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    anchor() {
      const timer = setInterval(() => {}, LONGEST_DELAY_MS).unref()
      return { hold: () => timer.ref(), release: () => timer.unref(), drop: () => clearInterval(timer) }
    },
  }
}
