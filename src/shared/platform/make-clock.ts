// What a clock is, and how one is made. The functions are Node's own, taken when the module loads: test frameworks put others in
// the places of the global ones.
import { getBuiltinModule } from './node-modules.js'

export interface Timer {
  cancel(): void
}

/** Keeps the process alive while it is held. */
export interface Anchor {
  hold(): void
  release(): void
  /** Lets go for good. */
  drop(): void
}

export interface Clock {
  /** Milliseconds of a clock that never jumps. */
  now(): number
  /**
   * Milliseconds of the epoch, on the wall clock: it may jump, so it is asked once and turned into the other. It is the `Date`
   * that callers know at that moment.
   */
  epochNow(): number
  /** Calls back once, in `delayMs` (`Infinity`: never). Keeps the process alive only with `keepsAlive`. */
  after(delayMs: number, callback: () => void, keepsAlive?: boolean): Timer
  /** Calls back when this turn of the event loop is over. */
  nextTurn(callback: () => void): Timer
  anchor(): Anchor
}

const LONGEST_DELAY_MS = 2 ** 31 - 1
const NEVER: Timer = { cancel() {} }
const ORIGIN_LOOKS = 5
const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } =
  getBuiltinModule('node:timers')
const { hrtime } = getBuiltinModule('node:process')

export interface ThreadClock extends Clock {
  /**
   * Where this thread's clock starts, on the one that all threads and processes of the machine share: what two origins differ
   * by, the two threads' `now()` differ by.
   */
  origin(): number
  /** Milliseconds in which this thread's event loop was not waiting. What blocks, or is kept off the cores, is not waiting. */
  active(): number
  /** Milliseconds in which this thread was on a core; `null` where the runtime cannot say. */
  onCore(): number | null
}

type CpuUsage = { user: number; system: number }
const { threadCpuUsage } = process as { threadCpuUsage?: () => CpuUsage }

/** Asked for here, as it takes a millisecond to load: a handler may have put something else in its place. */
function activeTime(): number | undefined {
  const { performance } = getBuiltinModule('node:perf_hooks')
  return performance?.eventLoopUtilization?.()?.active
}

export function makeClock(now: () => number): ThreadClock {
  return {
    origin() {
      // A pause between the two looks makes it less than it is, never more.
      const looks = Array.from({ length: ORIGIN_LOOKS }, () => Number(hrtime.bigint()) / 1e6 - now())
      return Math.max(...looks)
    },
    active: () => activeTime() ?? now(),
    onCore() {
      if (threadCpuUsage === undefined) return null
      const { user, system } = threadCpuUsage.call(process)
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
    anchor() {
      const timer = setInterval(() => {}, LONGEST_DELAY_MS).unref()
      return { hold: () => timer.ref(), release: () => timer.unref(), drop: () => clearInterval(timer) }
    },
  }
}
