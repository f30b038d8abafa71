// Decides whether workers may busy-wait and the host may poll: while the host and each awake worker have a core of their own.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Worker } from './worker.js'

export class CoreSharing {
  /** A core is free, so the host may poll for answers. */
  mayPoll = false
  readonly #workers: readonly Worker[]
  readonly #clock: Clock
  readonly #cores: number
  /** Set while nobody busy-waits, because other threads need the cores. */
  #pause: Timer | null = null
  #isClosed = false

  /** @param cores workers busy-wait while fewer than this number are awake; 0: never */
  constructor(workers: readonly Worker[], clock: Clock, cores: number) {
    this.#workers = workers
    this.#clock = clock
    this.#cores = cores
  }

  /** Call it when the number of workers that are awake has changed. */
  share(awake: number): void {
    const isAllowed = awake < this.#cores && this.#pause === null
    if (isAllowed !== this.mayPoll) this.#allow(isAllowed)
  }

  /** Call it when a worker was started or has ended. All workers count as awake until the next call of `share()`. */
  onChanged(): void {
    // Also for a worker that was just started.
    this.#allow(this.#workers.length < this.#cores && this.#pause === null)
  }

  /** Other threads need the cores. Host and workers do not busy-wait for `pauseMs`. */
  pause(pauseMs: number): void {
    if (this.#isClosed) return
    this.#allow(false)
    this.#pause?.cancel()
    this.#pause = this.#clock.after(pauseMs, () => {
      this.#pause = null
    })
  }

  end(): void {
    this.#isClosed = true
    this.#pause?.cancel()
  }

  #allow(isAllowed: boolean): void {
    this.mayPoll = isAllowed
    for (const worker of this.#workers) worker.tasks.allowSpin(isAllowed)
  }
}
