// A clock for tests. Its time changes only when the test calls `advance` or `stall`.
import type { Anchor, Clock, Timer } from '../shared/platform/clock.js'

interface Alarm {
  dueAt: number
  callback: () => void
  keepsAlive: boolean
}

export class ManualClock implements Clock {
  /** The number of anchors that now keep the process alive. */
  heldAnchors = 0
  #now: number
  readonly #alarms = new Set<Alarm>()
  #nextTurn = new Set<() => void>()

  /** @param now the start of the clock; not 0, which means "never" in many places */
  constructor(now = 1000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** The wall clock minus this clock. A test can change it to let the wall clock jump. */
  epochShift = 1_700_000_000_000

  epochNow(): number {
    return this.epochShift + this.#now
  }

  after(delayMs: number, callback: () => void, keepsAlive = false): Timer {
    const alarm: Alarm = { dueAt: this.#now + delayMs, callback, keepsAlive }
    if (delayMs !== Number.POSITIVE_INFINITY) this.#alarms.add(alarm)
    return { cancel: () => this.#alarms.delete(alarm) }
  }

  nextTurn(callback: () => void): Timer {
    const once = () => callback()
    this.#nextTurn.add(once)
    return { cancel: () => this.#nextTurn.delete(once) }
  }

  /** How long the thread has waited for a core. A test can change it. */
  coreWaitMs = 0

  coreWait(): number {
    return this.coreWaitMs
  }

  /** How much CPU time the process has used. A test can change it. By default it is always busy. */
  cpuMs: number | null = null

  processCpu(): number {
    return this.cpuMs ?? this.#now
  }

  anchor(): Anchor {
    let isHeld = false
    const set = (next: boolean) => {
      if (next !== isHeld) this.heldAnchors += next ? 1 : -1
      isHeld = next
    }
    return { hold: () => set(true), release: () => set(false), drop: () => set(false) }
  }

  /** The delays of all timers from now, shortest first. */
  get pending(): number[] {
    return this.#inOrder().map(alarm => alarm.dueAt - this.#now)
  }

  /** True when a timer keeps the process alive. */
  get keepsAlive(): boolean {
    return [...this.#alarms].some(alarm => alarm.keepsAlive)
  }

  /** True when a callback waits for the end of this turn. */
  get awaitsTurn(): boolean {
    return this.#nextTurn.size > 0
  }

  /**
   * Simulates a blocked process: time moves first, then due timers call back late. Does not run timers that they set.
   */
  stall(milliseconds: number): void {
    this.#now += milliseconds
    for (const alarm of this.#inOrder()) {
      if (alarm.dueAt <= this.#now && this.#alarms.delete(alarm)) alarm.callback()
    }
  }

  /** Moves time. Each due timer, also a newly set one, calls back at its own time. */
  advance(milliseconds: number): void {
    const until = this.#now + milliseconds
    for (
      let next = this.#inOrder()[0];
      next !== undefined && next.dueAt <= until;
      next = this.#inOrder()[0]
    ) {
      this.#alarms.delete(next)
      this.#now = Math.max(this.#now, next.dueAt)
      next.callback()
    }
    this.#now = until
  }

  /** Ends this turn of the event loop and runs the callbacks that wait for it. */
  turn(): void {
    const callbacks = this.#nextTurn
    this.#nextTurn = new Set()
    for (const callback of callbacks) callback()
  }

  #inOrder(): Alarm[] {
    return [...this.#alarms].sort((one, other) => one.dueAt - other.dueAt)
  }
}
