// Collects two costs: the cost of each handler, which workers measure, and the cost of a task on the host, which the
// host measures.
import type { HandlerMeasure } from '../../shared/messages/messages.js'
import { keyOf } from './handler-tasks.js'

/** The cost of one handler: means over the measured tasks, in milliseconds. */
export interface HandlerCost {
  filename: string
  name: string
  measured: number
  runMs: number
  activeMs: number
  cpuMs: number | null
}

/** Checks the new cost of a handler after each report of a worker. */
export interface HandlerCheck {
  check(handler: HandlerCost, handOverMs: number | null): void
}

/** A read of the clock costs as much as a short task. So the host measures few of the short tasks. */
const SKIPPED_PER_MS = 0.02
/** An even number: posts and answers often alternate, and a measurement of every 63rd event covers both. */
const MAX_SKIPPED = 62
const MAX_HANDLERS = 256

export class HandlerMetrics {
  readonly #handlers = new Map<string, HandlerCost>()
  readonly #check: HandlerCheck | null
  readonly #post = new Mean()
  readonly #answer = new Mean()
  /** The host does not measure the first event, because it includes work that happens only once. */
  #toSkip = 1

  constructor(check: HandlerCheck | null) {
    this.#check = check
  }

  /** Called for each post and each answer. Returns true when this one is measured. */
  isDue(): boolean {
    return --this.#toSkip < 0
  }

  onPosted(ms: number): void {
    this.#add(this.#post, ms)
  }

  onAnswered(ms: number): void {
    this.#add(this.#answer, ms)
  }

  /** A worker reports what it measured since its last report. */
  onMeasured(handlers: readonly HandlerMeasure[]): void {
    for (const measure of handlers) {
      const stats = this.#merge(measure)
      if (stats !== null) this.#check?.check(stats, this.handOverMs)
    }
  }

  /** By `keyOf()` the handler. */
  get costs(): ReadonlyMap<string, HandlerCost> {
    return this.#handlers
  }

  /** The mean cost of one task on the host: to post the task and to settle its answer. `null` until measured. */
  get handOverMs(): number | null {
    return this.#post.count === 0 ? null : this.#post.value + this.#answer.value
  }

  #add(mean: Mean, ms: number): void {
    mean.add(ms)
    this.#toSkip = Math.min(Math.floor(SKIPPED_PER_MS / ms), MAX_SKIPPED)
  }

  #merge({ filename, name, tasks, ...sums }: HandlerMeasure): HandlerCost | null {
    const key = keyOf({ filename, name })
    const before = this.#handlers.get(key)
    if (before === undefined && this.#handlers.size >= MAX_HANDLERS) return null
    const measured = (before?.measured ?? 0) + tasks
    const mean = (meanMs: number, sumMs: number) => (meanMs * (measured - tasks) + sumMs) / measured
    const stats: HandlerCost = {
      filename,
      name,
      measured,
      runMs: mean(before?.runMs ?? 0, sums.runMs),
      activeMs: mean(before?.activeMs ?? 0, sums.activeMs),
      cpuMs: sums.cpuMs === null ? null : mean(before?.cpuMs ?? 0, sums.cpuMs),
    }
    this.#handlers.set(key, stats)
    return stats
  }
}

class Mean {
  #sum = 0
  count = 0

  add(value: number): void {
    this.#sum += value
    this.count++
  }

  get value(): number {
    return this.count === 0 ? 0 : this.#sum / this.count
  }
}
