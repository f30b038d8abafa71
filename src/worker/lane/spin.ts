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
    this.#idleSince = workerClock.now()
    if (!this.#isAllowed() || this.#idleSince < this.#pausedUntil || !this.#adaptive.shouldSpin())
      return false
    return this.#spin(hasWork)
  }

  #spin(hasWork: () => boolean): boolean {
    const start = this.#idleSince
    let now: number
    let isWorkThere = false
    do {
      for (let check = 0; check < CHECKS_PER_CLOCK_READ && !isWorkThere; check++) {
        isWorkThere = hasWork()
        if (!isWorkThere) pause()
      }
      now = workerClock.now()
    } while (!isWorkThere && now < start + LONGEST_SPIN_MS)
    const pauseMs = this.#coreWatch?.onBusyWait(now - start, now) ?? 0
    if (pauseMs > 0) this.#pausedUntil = now + pauseMs
    return isWorkThere
  }

  /** Call it when the worker has work again. */
  onWork(): void {
    if (this.#idleSince === 0) return
    this.#adaptive.onGap(workerClock.now() - this.#idleSince)
    this.#idleSince = 0
  }
}
