// A clock that a test moves by hand: time stands still between two calls of `advance`.
import type { Anchor, Clock, Timer } from '../shared/platform/clock.js'

interface Alarm {
  dueAt: number
  callback: () => void
  keepsAlive: boolean
}

export class ManualClock implements Clock {
  /** Anchors that hold the process at this moment. */
  heldAnchors = 0
  #now: number
  readonly #alarms = new Set<Alarm>()
  #nextTurn = new Set<() => void>()

  /** @param now where the clock starts; not 0, which reads as "never" in too many places */
  constructor(now = 1000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** The wall clock: a test may let it jump. */
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

  anchor(): Anchor {
    let isHeld = false
    const set = (next: boolean) => {
      if (next !== isHeld) this.heldAnchors += next ? 1 : -1
      isHeld = next
    }
    return { hold: () => set(true), release: () => set(false), drop: () => set(false) }
  }

  /** Timers that are set, soonest first, as the delays from now. */
  get pending(): number[] {
    return this.#inOrder().map(alarm => alarm.dueAt - this.#now)
  }

  /** True when a timer keeps the process alive. */
  get keepsAlive(): boolean {
    return [...this.#alarms].some(alarm => alarm.keepsAlive)
  }

  /** Something waits for the end of this turn. */
  get awaitsTurn(): boolean {
    return this.#nextTurn.size > 0
  }

  /** The process is held for so long: what fell due meanwhile is called late, and what that sets is due later still. */
  stall(milliseconds: number): void {
    this.#now += milliseconds
    for (const alarm of this.#inOrder()) {
      if (alarm.dueAt <= this.#now && this.#alarms.delete(alarm)) alarm.callback()
    }
  }

  /** Moves time on; what falls due on the way is called at its own moment, what it sets anew as well. */
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

  /** Ends this turn of the event loop: calls what waits for it. */
  turn(): void {
    const callbacks = this.#nextTurn
    this.#nextTurn = new Set()
    for (const callback of callbacks) callback()
  }

  #inOrder(): Alarm[] {
    return [...this.#alarms].sort((one, other) => one.dueAt - other.dueAt)
  }
}
