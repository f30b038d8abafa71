// Whether a task may be run again after its worker died, or its handler failed. Only for tasks whose call, or pool, says so.
import { TaskQuarantinedError } from '../../shared/errors/pool-errors.js'

export interface RetryOptions {
  /** How often the task may be run in all, 1 to 100; 1: once, as without `retry`. */
  attempts: number
  /**
   * Asked after each attempt that failed, be it by the worker's death or by what the handler threw; `attempt` counts from 1.
   * True: run it again. Without it a worker's death is reason enough, and what a handler throws is none.
   */
  when?: ((error: unknown, attempt: number) => boolean) | undefined
}

export interface RetrySettings {
  readonly attempts: number
  readonly when: ((error: unknown, attempt: number) => boolean) | null
}

/** What a task with `retry` has behind it. */
export class Retry {
  readonly #settings: RetrySettings
  #attempts = 0
  /** Workers that ended while it ran. */
  #deaths = 0

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  /** A worker had the task. */
  get hasRun(): boolean {
    return this.#attempts > 0
  }

  /** `AGAIN`, or what the caller is told. */
  afterDeath(error: unknown): unknown {
    this.#attempts++
    this.#deaths++
    if (this.#attempts < this.#settings.attempts) return this.#ask(error, true)
    return this.#deaths > 1 ? new TaskQuarantinedError(this.#deaths, error) : error
  }

  /** `AGAIN`, or what the caller is told. */
  afterFailure(error: unknown): unknown {
    this.#attempts++
    return this.#attempts < this.#settings.attempts ? this.#ask(error, false) : error
  }

  /** What `when` throws reaches the caller: it is the caller's function. */
  #ask(error: unknown, unlessAsked: boolean): unknown {
    const { when } = this.#settings
    try {
      // Not what counts as true: the promise of an async function would always.
      return (when === null ? unlessAsked : when(error, this.#attempts) === true) ? AGAIN : error
    } catch (failure) {
      return failure
    }
  }
}

export const AGAIN: unique symbol = Symbol('run it again')
