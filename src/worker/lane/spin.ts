// A short busy-wait for the next task before the worker returns to its event loop. Waking a worker from its event loop costs several times
// as much as a small task. The worker busy-waits no longer than a sleep and a wake-up take, only while a core is idle, and rarely if it
// did not help before.
import { pause } from '#atomics'
import { AdaptiveSpin, CoreWatch } from '../../shared/platform/adaptive-spin.js'
import { workerClock } from '../run/clock.js'

/** About the time of a sleep and a wake-up. */
const LONGEST_SPIN_MS = 0.06
/** Checks for work between two clock reads. Each read allocates a number, and an idle worker should allocate little. */
const CHECKS_PER_CLOCK_READ = 64

export class Spin {
  readonly #isAllowed: () => boolean
  readonly #adaptive = new AdaptiveSpin(LONGEST_SPIN_MS)
  /** `null`: the worker busy-waits although other threads need the core. */
  readonly #coreWatch: CoreWatch | null
  /** The start of the current idle time; 0 while the worker has work. */
  #idleSince = 0
  #pausedUntil = 0
  /** The current idle time was a busy-wait that found work. */
  #hasSpun = false

  /**
   * @param isAllowed returns true while a core is idle
   * @param yieldsCore false: the worker busy-waits although other threads need the core
   */
  constructor(isAllowed: () => boolean, yieldsCore: boolean) {
    this.#isAllowed = isAllowed
    this.#coreWatch = yieldsCore ? new CoreWatch(workerClock.coreWait) : null
  }

  /** Busy-waits and returns true if `hasWork` becomes true. Returns false at once if busy-waiting is not useful now. */
  waitFor(hasWork: () => boolean): boolean {
    if (this.#idleSince > 0) return false
    const start = workerClock.now()
    this.#idleSince = start
    if (!this.#isAllowed() || start < this.#pausedUntil || !this.#adaptive.shouldSpin()) return false
    let now = start
    do {
      for (let check = 0; check < CHECKS_PER_CLOCK_READ; check++) {
        if (hasWork()) {
          this.#hasSpun = true
          return true
        }
        pause()
      }
      now = workerClock.now()
    } while (now < start + LONGEST_SPIN_MS)
    this.#note(now - start, now)
    return false
  }

  /** Call it when the worker has work again. */
  onWork(): void {
    if (this.#idleSince === 0) return
    const now = workerClock.now()
    const gapMs = now - this.#idleSince
    this.#idleSince = 0
    this.#adaptive.onGap(gapMs)
    if (!this.#hasSpun) return
    this.#hasSpun = false
    this.#note(gapMs, now)
  }

  #note(spentMs: number, now: number): void {
    const pauseMs = this.#coreWatch?.onBusyWait(spentMs, now) ?? 0
    if (pauseMs > 0) this.#pausedUntil = now + pauseMs
  }
}
