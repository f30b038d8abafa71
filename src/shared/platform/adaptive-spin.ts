// Decides whether to busy-wait for the next event. A busy-wait pays off when it is shorter than a sleep and a wake-up, and while no other
// thread needs the core.
//
// - Gaps: after several long gaps the caller sleeps instead, and tries again regularly. A short gap makes up for one long gap.
// - Interruptions: after some busy-waits during which another thread took the core, the caller sleeps instead for half a second, and for
//   longer each time after that. See docs/design/0032.

/** The caller sleeps when long gaps exceed short ones by this number. */
const MAX_LONG_GAPS = 8
/** After this many gaps in sleep, the caller busy-waits once to try again. */
const TRY_AGAIN_AFTER = 16

export class AdaptiveSpin {
  readonly #longestGapMs: number
  #longGaps = 0
  #sleptGaps = 0

  /** @param longestGapMs the longest gap that is worth a busy-wait */
  constructor(longestGapMs: number) {
    this.#longestGapMs = longestGapMs
  }

  /** Call it once for each gap. */
  shouldSpin(): boolean {
    if (this.#longGaps < MAX_LONG_GAPS) return true
    if (++this.#sleptGaps < TRY_AGAIN_AFTER) return false
    this.#sleptGaps = 0
    return true
  }

  onGap(gapMs: number): void {
    if (gapMs > this.#longestGapMs) this.#longGaps = Math.min(this.#longGaps + 1, MAX_LONG_GAPS)
    else if (this.#longGaps > 0) this.#longGaps--
  }
}

/** Asking the system costs about 15 µs. So a thread asks after 2 ms of busy-waiting, and at most every 20 ms. */
const ASK_AFTER_MS = 2
const ASK_EVERY_MS = 20
/** An older answer says nothing about the present. */
const RECENT_MS = 100
/** Threads of the own process, such as those of the garbage collector, wait for less. */
const MAX_WAIT_SHARE = 1 / 5
/**
 * The caller pauses when bad answers exceed good ones by this number. Threads that wake each other may share a core at first, until the
 * system gives each its own.
 */
const MANY_ANSWERS = 4
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000

/** Notices that a thread which busy-waits must itself wait for a core, because others need it. */
export class CoreWatch {
  readonly #coreWait: () => number
  #spentMs = 0
  #askedAt = 0
  #waitMs = 0
  #badAnswers = 0
  #goodAnswers = 0
  #pauseMs = FIRST_PAUSE_MS

  /** @param coreWait how long the thread has waited for a core in all, in milliseconds */
  constructor(coreWait: () => number) {
    this.#coreWait = coreWait
  }

  /**
   * Call it after each busy-wait, or a part of one.
   * @returns how long the caller must not busy-wait; 0: it may go on
   */
  onBusyWait(spentMs: number, now: number): number {
    this.#spentMs += spentMs
    const elapsedMs = now - this.#askedAt
    if (this.#spentMs < ASK_AFTER_MS || elapsedMs < ASK_EVERY_MS) return 0
    this.#spentMs = 0
    const before = this.#waitMs
    this.#waitMs = this.#coreWait()
    this.#askedAt = now
    if (elapsedMs > RECENT_MS) return 0
    return this.#judge(this.#waitMs - before > elapsedMs * MAX_WAIT_SHARE)
  }

  #judge(isBad: boolean): number {
    if (!isBad) {
      if (this.#badAnswers > 0) this.#badAnswers--
      if (++this.#goodAnswers === MANY_ANSWERS) this.#pauseMs = FIRST_PAUSE_MS
      return 0
    }
    this.#goodAnswers = 0
    if (++this.#badAnswers < MANY_ANSWERS) return 0
    this.#badAnswers = 0
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    return pauseMs
  }
}
