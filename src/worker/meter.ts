// What tasks cost in this worker: time on the clock, time on a core, time for reading and writing values. The host is told now
// and then. Measuring takes some microseconds itself, so of a handler's short tasks one in many is measured.
import type { HandlerMeasure } from '../shared/messages/messages.js'
import type { Assignment } from './assignment.js'
import { realClock } from './clock.js'
import { type Measure, MeasuredAssignment } from './measured-assignment.js'

/** So many tasks of a millisecond go by unmeasured for each measured one: measuring is to cost below 1 %. */
const SKIPPED_OF_ONE_MS = 0.3
const MOST_SKIPPED = 255
/** The host is told after the first task measured, then after so long, and after twice as long each time. */
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

/** How many of a handler's tasks go by before the next that is measured. */
interface Rate {
  readonly handlerId: number
  toSkip: number
}

export class Meter {
  /** What reading the payload of the next task took. */
  readMs = 0
  #wentOnAt = 0
  readonly #tell: (handlers: HandlerMeasure[]) => void
  readonly #sums = new Map<number, HandlerMeasure>()
  readonly #rates = new Map<number, Rate>()
  /** Of the handler asked for last. */
  #rate: Rate = { handlerId: Number.NaN, toSkip: 0 }
  #tellAt = 0
  #pauseMs = FIRST_PAUSE_MS

  constructor(tell: (handlers: HandlerMeasure[]) => void) {
    this.#tell = tell
  }

  /** To be asked once for each task: true when it is to be measured. */
  isDue(handlerId: number): boolean {
    return --this.#rateOf(handlerId).toSkip < 0
  }

  /** What `isDue` will say next of the handler. Nothing is kept of it yet: there may be no such function. */
  isNextDue(handlerId: number): boolean {
    const rate = this.#rate.handlerId === handlerId ? this.#rate : this.#rates.get(handlerId)
    return rate === undefined || rate.toSkip <= 0
  }

  /** The worker sees to what comes next. Giving an answer may lead there: what follows takes none of its time. */
  onGoingOn(now: number): void {
    this.#wentOnAt = now
  }

  measure(task: Assignment): Assignment {
    const { readMs } = this
    this.readMs = 0
    const onMeasured = (measure: Measure) => this.#add(task.handlerId, readMs, measure)
    return new MeasuredAssignment(task, onMeasured, realClock.onCore(), realClock.now())
  }

  #add(handlerId: number, readMs: number, { runMs, activeMs, cpuMs, endedAt }: Measure): void {
    const now = realClock.now()
    const transferMs = readMs + (this.#wentOnAt >= endedAt ? this.#wentOnAt : now) - endedAt
    this.#rateOf(handlerId).toSkip = Math.min(Math.floor(SKIPPED_OF_ONE_MS / runMs), MOST_SKIPPED)
    const sum = this.#sums.get(handlerId)
    if (sum === undefined)
      this.#sums.set(handlerId, { handlerId, tasks: 1, runMs, activeMs, cpuMs, transferMs })
    else {
      sum.tasks++
      sum.runMs += runMs
      sum.activeMs += activeMs
      sum.cpuMs = cpuMs === null ? null : sum.cpuMs! + cpuMs
      sum.transferMs += transferMs
    }
    if (now < this.#tellAt) return
    this.#tellAt = now + this.#pauseMs
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
    this.#tell([...this.#sums.values()])
    this.#sums.clear()
  }

  #rateOf(handlerId: number): Rate {
    if (this.#rate.handlerId === handlerId) return this.#rate
    let rate = this.#rates.get(handlerId)
    if (rate === undefined) {
      rate = { handlerId, toSkip: 0 }
      this.#rates.set(handlerId, rate)
    }
    this.#rate = rate
    return rate
  }
}
