// Problems that no caller receives: an event, or a warning where the program does not listen to it.
import { realClock } from '../../shared/platform/clock.js'

interface Emitter {
  listenerCount(event: any): number
  emit(event: any, problem: any): boolean
}

/** The problems of one kind since its last warning. */
interface Untold {
  problem: unknown
  count: number
}

export class Problems {
  readonly #emitter: Emitter
  readonly #warn: (problem: unknown, event: string, leftOut: number) => void
  readonly #everyMs: number
  /** By kind, until `everyMs` after the last warning of the kind. */
  readonly #untold = new Map<string, Untold>()

  /**
   * @param warn called with a problem without a listener. `leftOut` counts the problems of the same kind that it was not called with.
   * @param everyMs the time between two warnings of one kind. `Infinity`: one warning for each kind.
   */
  constructor(
    emitter: Emitter,
    warn: (problem: unknown, event: string, leftOut: number) => void,
    everyMs = Number.POSITIVE_INFINITY,
  ) {
    this.#emitter = emitter
    this.#warn = warn
    this.#everyMs = everyMs
  }

  /** @param problem the argument of the event */
  tell(problem: unknown, event = 'error', kind = event): void {
    if (this.#emitter.listenerCount(event) > 0) {
      this.#emitter.emit(event, problem)
      return
    }
    const untold = this.#untold.get(kind)
    if (untold === undefined) {
      this.#warnNow(problem, event, kind, 0)
    } else {
      untold.problem = problem
      untold.count++
    }
  }

  #warnNow(problem: unknown, event: string, kind: string, leftOut: number): void {
    const untold = { problem: null as unknown, count: 0 }
    this.#untold.set(kind, untold)
    this.#warn(problem, event, leftOut)
    realClock.after(this.#everyMs, () => {
      if (untold.count === 0) this.#untold.delete(kind)
      else this.#warnNow(untold.problem, event, kind, untold.count - 1)
    })
  }
}
