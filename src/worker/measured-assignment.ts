// A task whose handler is measured, from its call to its answer.

import type { PackedThrown } from '../shared/errors/remote-error.js'
import type { Handler } from '../shared/messages/handler.js'
import type { FailureReason } from '../shared/messages/messages.js'
import { keepShape } from '../shared/platform/shapes.js'
import type { Assignment } from './assignment.js'
import { realClock } from './clock.js'

/** Told when the answer is given. In milliseconds. */
export interface Measure {
  /** From the handler's call to its answer. */
  runMs: number
  activeMs: number
  cpuMs: number | null
  /** When the handler was done, and its answer was to be written. */
  endedAt: number
}

export class MeasuredAssignment implements Assignment {
  readonly handlerId: number
  readonly handler: Handler | null
  readonly payload: unknown
  readonly #task: Assignment
  readonly #onMeasured: (measure: Measure) => void
  readonly #cpuFrom: number | null
  #from: number
  /** `NaN` unless the handler returned a promise: until then, and so to the end of most tasks, all time is active. */
  #activeFrom = Number.NaN

  /** The last two are of now, as `realClock` says them. */
  constructor(task: Assignment, onMeasured: (measure: Measure) => void, onCore: number | null, now: number) {
    this.handlerId = task.handlerId
    this.handler = task.handler
    this.payload = task.payload
    this.#task = task
    this.#onMeasured = onMeasured
    this.#cpuFrom = onCore
    this.#from = now
  }

  get isCancelled(): boolean {
    return this.#task.isCancelled
  }

  get cancelReason(): unknown {
    return this.#task.cancelReason
  }

  makeSignal(): AbortSignal {
    return this.#task.makeSignal()
  }

  markLoading(isLoading: boolean): void {
    this.#task.markLoading(isLoading)
  }

  /** What asking takes is not the task's: the first time, something is loaded for it. */
  onPending(): void {
    const now = realClock.now()
    this.#activeFrom = realClock.active() - (now - this.#from)
    this.#from += realClock.now() - now
  }

  holdTime(): () => void {
    return this.#task.holdTime()
  }

  succeed(result: unknown): void {
    this.#answer(() => this.#task.succeed(result))
  }

  fail(reason: FailureReason, error: PackedThrown, path: string): void {
    this.#answer(() => this.#task.fail(reason, error, path))
  }

  #answer(give: () => void): void {
    const endedAt = realClock.now()
    const runMs = endedAt - this.#from
    // Asking takes time too, which of a tiny task is more than its own.
    const activeMs = Number.isNaN(this.#activeFrom)
      ? runMs
      : Math.min(realClock.active() - this.#activeFrom, runMs)
    const cpuMs = this.#cpuFrom === null ? null : Math.min(realClock.onCore()! - this.#cpuFrom, runMs)
    give()
    this.#onMeasured({ runMs, activeMs, cpuMs, endedAt })
  }
}

const sampleTask = { handlerId: 0, handler: { filename: '', name: '' }, payload: null } as Assignment
keepShape(new MeasuredAssignment(sampleTask, Boolean, realClock.onCore(), 0.5))
