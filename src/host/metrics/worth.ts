// What a pool's handlers cost and what handing tasks over costs, handler by handler: whether a worker is worth it. Sums of
// what was measured, here for one task in many and by the workers as they tell.
import type { HandlerMeasure } from '../../shared/messages/messages.js'
import type { HandlerStats } from './handler-stats.js'

interface Handed {
  readonly handlerId: number
  readonly filename: string
  readonly name: string
}

interface Sums {
  readonly handlerId: number
  readonly filename: string
  readonly name: string
  readonly out: Mean
  readonly back: Mean
  /** How many go by, out or back, before the next that is measured. */
  toSkip: number
  measured: number
  runMs: number
  activeMs: number
  cpuMs: number | null
  transferMs: number
}

/** Looking at the clock costs what a short task costs: so much of what is measured may go to it. */
const SKIPPED_OF_ONE_MS = 0.02
/** Odd: tasks out and answers back often alternate. */
const MOST_SKIPPED = 62
/** What comes from outside must not fill the table. */
const MOST_HANDLERS = 256

export class Worth {
  readonly #handlers = new Map<number, Sums>()
  readonly #onNews: (handler: HandlerStats) => void
  /** Those asked for last. */
  #sums: Sums | undefined
  /** All that the table holds were measured, and stay. */
  #isFull = false

  /** @param onNews called when a worker has told more of a handler */
  constructor(onNews: (handler: HandlerStats) => void) {
    this.#onNews = onNews
  }

  /** To be asked each time a task is handed over or an answer is taken in: true when it is to be measured. */
  isDue(task: Handed): boolean {
    const sums = this.#sumsOf(task)
    return sums !== undefined && --sums.toSkip < 0
  }

  onHandedOver(task: Handed, ms: number): void {
    const sums = this.#sumsOf(task)
    if (sums !== undefined) addTo(sums, sums.out, ms)
  }

  onTakenIn({ handlerId }: Handed, ms: number): void {
    const sums = this.#handlers.get(handlerId)
    if (sums !== undefined) addTo(sums, sums.back, ms)
  }

  /** For names that led nowhere. */
  forget({ handlerId }: Handed): void {
    if (this.#handlers.get(handlerId)?.measured !== 0) return
    this.#handlers.delete(handlerId)
    this.#sums = undefined
  }

  onMeasured(handlers: readonly HandlerMeasure[]): void {
    for (const { handlerId, tasks, runMs, activeMs, cpuMs, transferMs } of handlers) {
      const sums = this.#handlers.get(handlerId)
      if (sums === undefined) continue
      sums.measured += tasks
      sums.runMs += runMs
      sums.activeMs += activeMs
      sums.cpuMs = cpuMs === null ? null : (sums.cpuMs ?? 0) + cpuMs
      sums.transferMs += transferMs
      this.#onNews(statsOf(sums))
    }
  }

  get handlers(): HandlerStats[] {
    return [...this.#handlers.values()].filter(({ measured }) => measured > 0).map(statsOf)
  }

  #sumsOf(task: Handed): Sums | undefined {
    const { handlerId } = task
    if (this.#sums?.handlerId === handlerId) return this.#sums
    let sums = this.#handlers.get(handlerId)
    if (sums === undefined && this.#hasRoom()) {
      sums = {
        handlerId,
        filename: task.filename,
        name: task.name,
        out: new Mean(),
        back: new Mean(),
        // The first, with all that is done only once, is none to judge by.
        toSkip: 1,
        measured: 0,
        runMs: 0,
        activeMs: 0,
        cpuMs: 0,
        transferMs: 0,
      }
      this.#handlers.set(handlerId, sums)
    }
    this.#sums = sums
    return sums
  }

  /** Who was never measured gives way, the oldest first: the name may lead nowhere, and its calls have been cancelled. */
  #hasRoom(): boolean {
    if (this.#handlers.size < MOST_HANDLERS) return true
    if (this.#isFull) return false
    for (const [handlerId, { measured }] of this.#handlers)
      if (measured === 0) return this.#handlers.delete(handlerId)
    this.#isFull = true
    return false
  }
}

function addTo(sums: Sums, mean: Mean, ms: number): void {
  mean.add(ms)
  sums.toSkip = Math.min(Math.floor(SKIPPED_OF_ONE_MS / ms), MOST_SKIPPED)
}

class Mean {
  #sum = 0
  #count = 0

  add(value: number): void {
    this.#sum += value
    this.#count++
  }

  get value(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count
  }
}

function statsOf({ filename, name, out, back, measured, ...sums }: Sums): HandlerStats {
  return {
    filename,
    name,
    measured,
    runMs: sums.runMs / measured,
    activeMs: sums.activeMs / measured,
    cpuMs: sums.cpuMs === null ? null : sums.cpuMs / measured,
    transferMs: sums.transferMs / measured,
    handOverMs: out.value + back.value,
  }
}
