// The properties of a Piscina pool.
import { EventEmitterAsyncResource } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { type PiscinaHistogram, type PiscinaHistogramSummary, piscinaHistogram } from './histogram.js'
import type { FilledOptions } from './options.js'
import type { ReusablePool } from './reusable-pool.js'

/** The parts that the properties read. */
export interface PiscinaParts {
  options: FilledOptions
  /** Set by the constructor of `Piscina`. */
  reusable: ReusablePool
}

export abstract class PiscinaProperties extends EventEmitterAsyncResource {
  readonly #parts: PiscinaParts
  #histogram: PiscinaHistogram | null = null

  /** @internal */
  constructor(emitterOptions: object, parts: PiscinaParts) {
    super(emitterOptions as never)
    this.#parts = parts
  }

  /** The option `maxThreads`. */
  get maxThreads(): number {
    return this.#parts.options.maxThreads
  }

  /** The option `minThreads`. */
  get minThreads(): number {
    return this.#parts.options.minThreads
  }

  /** All options with their defaults. */
  get options(): FilledOptions {
    return this.#parts.options
  }

  /** The threads of the workers. */
  get threads(): Worker[] {
    return this.#parts.reusable.pool.threads
  }

  /** How many threads have no task. */
  get idleThreads(): number {
    const { workers } = this.#parts.reusable.pool
    const held = workers.reduce((sum, worker) => sum + worker.usage, 0)
    // Posted tasks that no worker has yet.
    const unclaimed = Math.max(this.#parts.reusable.pool.stats().tasks.inFlight - held, 0)
    return Math.max(workers.filter(worker => worker.isIdle).length - unclaimed, 0)
  }

  /** Queued tasks. */
  get queueSize(): number {
    return this.#parts.reusable.pool.queueSize
  }

  /** Settled tasks that a thread had, whatever their outcome. */
  get completed(): number {
    return this.#parts.reusable.completed
  }

  /** Wait and run times in milliseconds. */
  get histogram(): PiscinaHistogram {
    this.#histogram ??= piscinaHistogram(() => this.#parts.reusable.pool.histogram)
    return this.#histogram
  }

  /** @deprecated use `histogram.runTime` */
  get runTime(): PiscinaHistogramSummary {
    return this.histogram.runTime
  }

  /** @deprecated use `histogram.waitTime` */
  get waitTime(): PiscinaHistogramSummary {
    return this.histogram.waitTime
  }

  /** 0 to 1: the time in which tasks ran, divided by the time of all slots. */
  get utilization(): number {
    return this.#parts.reusable.pool.utilization
  }

  /** Milliseconds since the pool was created. */
  get duration(): number {
    return this.#parts.reusable.duration
  }

  /** True while the queue is full. */
  get needsDrain(): boolean {
    return this.#parts.reusable.pool.needsDrain
  }
}
