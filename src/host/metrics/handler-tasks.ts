// Counts the settled tasks of each handler by outcome, and records their run times. The forms of one function, such as `run()` and
// `pool.api`, count together.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import { DurationHistogram } from './histogram.js'
import type { Outcome } from './task-metrics.js'

/** Further handlers count together. No figure names them. */
const MAX_HANDLERS = 256
/** Handlers with higher numbers are found by file and name. */
const MAX_NUMBERS = 1024

/** The tasks of one handler since the pool was created. */
export class HandlerRecord {
  readonly filename: string
  readonly name: string
  fulfilled = 0
  rejected = 0
  cancelled = 0
  /** Answered tasks. Empty with `recordTiming: false`. */
  readonly runTime = new DurationHistogram()

  constructor({ filename, name }: HandlerRef) {
    this.filename = filename
    this.name = name
  }

  onSettled(outcome: Outcome): void {
    if (outcome === 'fulfilled') this.fulfilled++
    else if (outcome === 'rejected') this.rejected++
    else this.cancelled++
  }

  /** The pool refused a task that counts as rejected. */
  onRefused(): void {
    this.rejected--
  }
}

export class HandlerTasks {
  readonly #byNumber: (HandlerRecord | undefined)[] = []
  readonly #byName = new Map<string, HandlerRecord>()
  readonly #others = new HandlerRecord({ filename: '', name: '' })

  of(handlerId: number, handler: HandlerRef): HandlerRecord {
    return this.#byNumber[handlerId] ?? this.#find(handlerId, handler)
  }

  /** At most 256. */
  get named(): Iterable<HandlerRecord> {
    return this.#byName.values()
  }

  /** All of them, also the record of the handlers that have none of their own. */
  *all(): Generator<HandlerRecord> {
    yield* this.#byName.values()
    yield this.#others
  }

  #find(handlerId: number, handler: HandlerRef): HandlerRecord {
    const key = keyOf(handler)
    let record = this.#byName.get(key)
    if (record === undefined) {
      if (this.#byName.size >= MAX_HANDLERS) return this.#others
      record = new HandlerRecord(handler)
      this.#byName.set(key, record)
    }
    if (handlerId < MAX_NUMBERS) this.#byNumber[handlerId] = record
    return record
  }
}

export function keyOf({ filename, name }: { filename: string; name: string }): string {
  return `${filename}#${name}`
}
