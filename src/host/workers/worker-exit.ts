// Limits the time that a worker may take to end. A worker that takes longer is asked to exit at once, and is killed if it does not.
import { TeardownError } from '../../shared/errors/pool-errors.js'
import { UNFINISHED_MS } from '../../shared/messages/messages.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { WorkerLink } from '../backend/backend.js'
import { moveWorker, type WorkerLife } from './worker-life.js'

/**
 * A worker that must end gets this time to exit in its own event loop before the host kills it. Native add-ons may abort
 * the whole program when their thread is killed inside a call.
 */
const EXIT_GRACE_MS = 100
/**
 * The same for a worker that may be loading a file. Some versions of Node 20 to 24 abort the program when a thread is killed in `require(esm)`.
 * On busy cores a worker may need half of this time to start. A second request does not extend the time.
 */
const LOADING_GRACE_MS = 1000
/** How long a worker without a teardown may take to write out its output and to stop. */
const QUICK_STOP_MS = 1000

/** The worker, as far as its end concerns. */
export interface EndingWorker {
  readonly id: number
  readonly link: WorkerLink
  life: WorkerLife
  readonly mayBeLoading: boolean
  readonly hasTeardown: boolean
}

export class WorkerExit {
  readonly #worker: EndingWorker
  readonly #clock: Clock
  readonly #teardownMs: number
  readonly #events: { onError(error: unknown): void }
  /** Acts if the worker does not end in time. */
  #timer: Timer | null = null

  constructor(
    worker: EndingWorker,
    clock: Clock,
    teardownMs: number,
    events: { onError(error: unknown): void },
  ) {
    this.#worker = worker
    this.#clock = clock
    this.#teardownMs = teardownMs
    this.#events = events
  }

  /** Call it when the worker was asked to stop. */
  limitStop(): void {
    const { hasTeardown, mayBeLoading, link } = this.#worker
    if (hasTeardown) this.limitTeardown(0)
    else if (mayBeLoading) this.#after(LOADING_GRACE_MS, () => link.terminate())
    else this.#after(QUICK_STOP_MS, () => this.#cutOff())
  }

  limitTeardown(waitMs: number): void {
    this.#after(waitMs + this.#teardownMs, () => {
      this.#events.onError(new TeardownError(this.#worker.id, this.#teardownMs))
      this.#cutOff()
    })
  }

  /** The worker waits for requests that its handlers have started. */
  allowUnfinished(): void {
    if (this.#worker.hasTeardown) this.limitTeardown(UNFINISHED_MS)
    else this.#after(UNFINISHED_MS + QUICK_STOP_MS, () => this.#cutOff())
  }

  #cutOff(): void {
    if (this.#worker.life !== 'stopping') return
    moveWorker(this.#worker, 'cutOff')
    this.ask()
  }

  /** Asks the worker to exit in its own event loop, and kills it if it does not. */
  ask(): void {
    const { link, mayBeLoading } = this.#worker
    const hasLoadingGrace = mayBeLoading && this.#timer !== null
    // First the timer: an inline worker exits at once.
    if (!hasLoadingGrace) this.#after(mayBeLoading ? LOADING_GRACE_MS : EXIT_GRACE_MS, () => link.terminate())
    link.post({ kind: 'exit' })
  }

  /** Call it when the worker has ended. */
  end(): void {
    this.#timer?.cancel()
  }

  /**
   * Calls back one turn after the delay: a host that was busy first reads the messages that came in time. The exit of a
   * process arrives one turn later still, so it takes two turns for a process.
   */
  #after(delayMs: number, callback: () => void): void {
    this.#timer?.cancel()
    const onTimeOver = () => {
      this.#timer = this.#clock.nextTurn(() => {
        if (this.#worker.link.kind === 'process') this.#timer = this.#clock.nextTurn(callback)
        else callback()
      })
    }
    this.#timer = this.#clock.after(delayMs, onTimeOver, true)
  }
}
