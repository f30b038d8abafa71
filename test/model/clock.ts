// Time in the model: a turn of the event loop takes a millisecond, or so does every look at the clock. A thread's turns and timers are events of its own.
import { type Clock, realClock as hostClock, type Timer } from '../../src/shared/platform/clock.js'
import { realClock as workerClock } from '../../src/worker/clock.js'

export class ThreadClock implements Clock {
  readonly #tickMs: number
  readonly #mostTimers: number
  #now = 1000
  #fired = 0
  #turn = new Set<() => void>()
  readonly #timers = new Set<() => void>()

  /**
   * @param tickMs how much later it is at every look
   * @param mostTimers so many go off: one that is set again whenever it has gone off would have orders without end
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

  after(delayMs: number, callback: () => void): Timer {
    if (delayMs === Number.POSITIVE_INFINITY) return { cancel() {} }
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

  anchor() {
    return { hold() {}, release() {}, drop() {} }
  }

  /** What may happen now, by name. */
  get events(): Map<string, () => void> {
    const events = new Map<string, () => void>()
    if (this.#turn.size > 0) events.set('its event loop turns', () => this.#onTurn())
    if (this.#fired < this.#mostTimers)
      for (const fire of this.#timers) events.set(`its timer ${events.size} goes off`, fire)
    return events
  }

  #onTurn(): void {
    this.#now++
    const due = this.#turn
    this.#turn = new Set()
    for (const callback of due) if (due.has(callback)) callback()
  }
}

/** Code that takes the one clock of a real thread takes the thread's of the model from now on. */
export function beClockOfThread(clock: ThreadClock): void {
  for (const realClock of [hostClock, workerClock]) {
    realClock.now = () => clock.now()
    realClock.after = (delayMs, callback) => clock.after(delayMs, callback)
    realClock.nextTurn = callback => clock.nextTurn(callback)
  }
}
