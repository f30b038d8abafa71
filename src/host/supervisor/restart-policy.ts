// When workers may be started: freely, until they fail without doing any work. Then fewer and fewer, so that a file that
// cannot load costs a little time now and then and nothing in between.
import type { PoolError } from '../../shared/errors/pool-errors.js'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
/** Ends of ready workers without work between, before the first pause. */
const TOLERATED_ENDS = 3

export class RestartPolicy {
  #failures = 0
  #pausedUntil = 0
  /** What the last failed start died of: the answer to calls during a pause. */
  lastError: PoolError | null = null

  /** @param wasReady false: it did not even start, which pauses at once */
  onFailure(wasReady: boolean, error: PoolError, now: number): void {
    this.lastError = error
    this.#failures = wasReady ? this.#failures + 1 : Math.max(this.#failures, TOLERATED_ENDS) + 1
    const pauses = this.#failures - TOLERATED_ENDS
    if (pauses > 0) this.#pausedUntil = now + Math.min(FIRST_PAUSE_MS * 2 ** (pauses - 1), LONGEST_PAUSE_MS)
  }

  /** A worker answered a task. */
  onWorkDone(): void {
    this.#failures = 0
    this.#pausedUntil = 0
  }

  /** 0 when there is no pause. */
  pauseLeftMs(now: number): number {
    return Math.max(this.#pausedUntil - now, 0)
  }

  maySpawn(now: number): boolean {
    return now >= this.#pausedUntil
  }
}
