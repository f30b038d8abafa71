// When the host looks for answers: when a bell comes, and, while short tasks are under way and a core is spare, once in
// each turn of its event loop. Being woken costs several times what a small task costs. Where no core is spare it costs the
// workers as well: then the host takes answers in together, as long as the workers have enough to do. It never blocks to wait.

import type { HostBell } from '../../shared/lane/doorbell.js'
import { AdaptiveSpin } from '../../shared/platform/adaptive-spin.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'

/**
 * How long it goes on looking when nothing comes; it sleeps at once where answers take longer. Not less than it takes to
 * wake a worker that sleeps: else two sides that both sleep would never find out that both could stay awake.
 */
const LONGEST_LOOK_MS = 0.5
/** In one turn it looks again so often as long as there are answers: those to what the callers have just submitted. */
const LOOKS_AGAIN = 4
/** It rests for so much of the time for which the workers have enough to do: an answer waits so much longer than it has. */
const REST_SHARE = 1 / 4
/** Timers cannot be set to less. */
const SHORTEST_REST_MS = 1
const LONGEST_REST_MS = 4

export interface LookoutParts {
  clock: Clock
  bell: HostBell
  /** There is a core to spare. */
  mayPoll: () => boolean
  /** Takes in the answers that are there, not too many at once; true when there were any. */
  collect: () => boolean
  /** Are there answers to be taken in? */
  hasAnswers: () => boolean
  isWaiting: () => boolean
  /** How long what waits in the lane keeps the workers busy, as far as the last answers tell. */
  backlogMs: () => number
}

export class Lookout {
  readonly #parts: LookoutParts
  readonly #patience = new AdaptiveSpin(LONGEST_LOOK_MS)
  #turn: Timer | null = null
  /** It looks again then, and nobody need ring. */
  #rest: Timer | null = null
  #lookUntil = 0
  #looksLeft = 0
  readonly #lookAgain = () => {
    if (this.#parts.collect() && --this.#looksLeft > 0) inMicrotask(this.#lookAgain)
  }
  /** Since when answers are waited for; 0: they are not. */
  #waitingSince = 0

  constructor(parts: LookoutParts) {
    this.#parts = parts
    parts.bell.announceSleep()
  }

  /** A task was posted at `now`: an answer will come. */
  expect(now: number): void {
    if (this.#waitingSince !== 0) return
    this.#waitingSince = now
    if (this.#isWorthLooking()) this.#lookOn(now)
  }

  /** A bell came: there are answers. */
  onBell(): void {
    if (this.#turn === null) this.#look()
  }

  /** A worker is no more: it may have taken the bell, and not have come to ring it. */
  onWorkerGone(): void {
    const now = this.#parts.clock.now()
    if (this.#parts.isWaiting()) this.#lookOn(now)
    else this.#sleep(now)
  }

  #look(): void {
    const { clock, collect, hasAnswers, isWaiting, mayPoll } = this.#parts
    this.#turn = null
    this.#rest?.cancel()
    this.#rest = null
    const hadAnswers = collect()
    const now = clock.now()
    if (hadAnswers) {
      this.#looksLeft = LOOKS_AGAIN
      inMicrotask(this.#lookAgain)
      if (this.#waitingSince !== 0) this.#patience.onGap(now - this.#waitingSince)
      this.#waitingSince = isWaiting() ? now : 0
      if (hasAnswers() || (isWaiting() && this.#isWorthLooking())) this.#lookOn(now)
      else if (!this.#rests()) this.#sleep(now)
    } else if (isWaiting() && now < this.#lookUntil && mayPoll()) {
      this.#turn ??= clock.nextTurn(() => this.#look())
    } else {
      if (!isWaiting()) this.#waitingSince = 0
      this.#sleep(now)
    }
  }

  #lookOn(now: number): void {
    const { bell, clock } = this.#parts
    bell.stayAwake()
    this.#lookUntil = now + LONGEST_LOOK_MS
    // What was collected may have led to tasks being posted, and so here already.
    this.#turn ??= clock.nextTurn(() => this.#look())
  }

  #sleep(now: number): void {
    const { bell, hasAnswers } = this.#parts
    bell.announceSleep()
    // Look again after the announcement (pairs with publish() and then ring()).
    if (hasAnswers()) this.#lookOn(now)
  }

  /** True when it looks again by itself in a moment: until then only a worker with nothing left to do rings. */
  #rests(): boolean {
    const { backlogMs, bell, clock, isWaiting, mayPoll } = this.#parts
    if (this.#turn !== null || !isWaiting() || mayPoll()) return false
    const restMs = Math.min(backlogMs() * REST_SHARE, LONGEST_REST_MS)
    if (!(restMs >= SHORTEST_REST_MS)) return false
    bell.announceRest()
    this.#rest = clock.after(restMs, () => this.#look())
    return true
  }

  #isWorthLooking(): boolean {
    return this.#parts.mayPoll() && this.#patience.shouldSpin()
  }
}
