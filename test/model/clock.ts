// Time in the model. A turn of the event loop takes 1 ms. In some cases each read of the clock also takes time. Turns and timers are
// events of their thread.
import { type Clock, realClock as hostClock, type Timer } from '../../src/shared/platform/clock.js'
import { workerClock } from '../../src/worker/run/clock.js'

export class ThreadClock implements Clock {
  readonly #tickMs: number
  readonly #mostTimers: number
  #now = 1000
  #fired = 0
  #turn = new Set<() => void>()
  readonly #timers = new Set<() => void>()

  /**
   * @param tickMs the time that passes at each read
   * @param mostTimers the most timers that fire, because a timer that is always set again would give endless orders
   */
  constructor(tickMs: number, mostTimers: number) {
    this.#tickMs = tickMs
    this.#mostTimers = mostTimers
  }

  now(): number {
    this.#now += this.#tickMs
    return this.#now
  }

  epochNow(): number {
    return this.#now
  }

  /** A timer that keeps the process alive kills a worker. The model's workers end by themselves, at any step. */
  after(delayMs: number, callback: () => void, keepsAlive = false): Timer {
    if (delayMs === Number.POSITIVE_INFINITY || keepsAlive) return { cancel() {} }
    const fire = () => {
      this.#timers.delete(fire)
      this.#fired++
      callback()
    }
    this.#timers.add(fire)
    return { cancel: () => this.#timers.delete(fire) }
  }

  nextTurn(callback: () => void): Timer {
    this.#turn.add(callback)
    return { cancel: () => this.#turn.delete(callback) }
  }

  coreWait(): number {
    return 0
  }

  processCpu(): number {
    return this.#now
  }

  anchor() {
    return { hold() {}, release() {}, drop() {} }
  }

  /** The events that may happen now, by name. */
  get events(): Map<string, () => void> {
    const events = new Map<string, () => void>()
    if (this.#turn.size > 0) events.set('turns its event loop', () => this.#onTurn())
    if (this.#fired < this.#mostTimers)
      for (const fire of this.#timers) events.set(`timer ${events.size} fires`, fire)
    return events
  }

  #onTurn(): void {
    this.#now++
    const due = this.#turn
    this.#turn = new Set()
    for (const callback of due) if (due.has(callback)) callback()
  }
}

/** Replaces the clocks of real threads by this clock. */
export function beClockOfThread(clock: ThreadClock): void {
  for (const realClock of [hostClock, workerClock]) {
    realClock.now = () => clock.now()
    // All threads of the model have the same origin of time.
    realClock.origin = () => 0
    realClock.after = (delayMs, callback, keepsAlive) => clock.after(delayMs, callback, keepsAlive)
    realClock.nextTurn = callback => clock.nextTurn(callback)
  }
}
