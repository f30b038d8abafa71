// Decides whether a task with `retry` runs again after its worker died or its handler threw.
import { TaskQuarantinedError } from '../../shared/errors/pool-errors.js'
import type { AsyncContext } from '../../shared/platform/async-context.js'

export interface RetrySettings {
  readonly attempts: number
  readonly when: ((error: unknown, attempt: number) => boolean) | null
}

/** Counts the attempts of one task with the option `retry`. */
export class Retry {
  readonly #settings: RetrySettings
  readonly #context: AsyncContext | undefined
  #attempts = 0
  /** Workers that died while they ran the task. */
  #deaths = 0

  /** @param context the caller's async context, for `when` */
  constructor(settings: RetrySettings, context?: AsyncContext) {
    this.#settings = settings
    this.#context = context
  }

  /** At least one attempt has failed. */
  get hasRun(): boolean {
    return this.#attempts > 0
  }

  /** Returns `AGAIN`, or the error for the caller. */
  afterDeath(error: unknown): unknown {
    this.#attempts++
    this.#deaths++
    if (this.#attempts < this.#settings.attempts) return this.#ask(error, true)
    return this.#deaths > 1 ? new TaskQuarantinedError(this.#deaths, error) : error
  }

  /** Returns `AGAIN`, or the error for the caller. */
  afterFailure(error: unknown): unknown {
    this.#attempts++
    return this.#attempts < this.#settings.attempts ? this.#ask(error, false) : error
  }

  /** If `when` throws, the caller gets that error, because `when` is the caller's function. */
  #ask(error: unknown, unlessAsked: boolean): unknown {
    const { when } = this.#settings
    if (when === null) return unlessAsked ? AGAIN : error
    const ask = () => when(error, this.#attempts)
    try {
      // Only `true` counts. The promise of an async function is always truthy.
      const answer = this.#context === undefined ? ask() : this.#context.run(ask)
      return answer === true ? AGAIN : error
    } catch (failure) {
      return failure
    }
  }
}

export const AGAIN: unique symbol = Symbol('run it again')
