// The properties of a pool: what it tells about itself, and its events.
import type { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import type { PoolHistogram } from '../api/durations.js'
import type { Emitter, PoolEvents } from '../api/events.js'
import type { LogReceiver } from '../api/log-receiver.js'
import type { PoolSettings } from '../api/pool-options.js'
import type { PoolStats } from '../api/stats.js'
import type { WorkerView } from '../api/worker-view.js'
import type { PublicFunction } from '../shared/errors/pool-errors.js'
import { globalSymbol } from '../shared/platform/global-symbol.js'
import { EventEmitter } from '../shared/platform/host-node-modules.js'
import { forCaller } from './calls/caller-stack.js'
import type { Engine } from './engine/engine.js'
import type { PoolEmitter } from './engine/reports.js'
import { inspectIfAsked } from './load-inspection.js'

/** Its type names no type of Node, so that programs without `@types/node` get types for events. */
const TypedEmitter = EventEmitter as unknown as new () => Emitter<PoolEvents>

/** The door for the logger of the host. Its users need not load this package, which handlers do not need. */
const receiveLogs: unique symbol = globalSymbol('receiveLogs') as never

const engines = new WeakMap<object, Engine>()

/**
 * @internal
 * The engine of a pool, for the kit of adapters. `undefined`: the object is no pool of this copy of the package.
 */
export function engineOf(pool: object): Engine | undefined {
  return engines.get(pool)
}

/** The base of `Pool`. */
export abstract class PoolProperties extends TypedEmitter {
  readonly #engine: Engine

  /** @internal */
  constructor(makeEngine: (pool: PoolEmitter) => Engine, entry: PublicFunction) {
    super()
    this.#engine = forCaller(entry, () => makeEngine(this as unknown as PoolEmitter))
    engines.set(this, this.#engine)
    inspectIfAsked(this, this.#engine)
  }

  /**
   * Queued tasks: no slot is free for them.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get queueSize(): number {
    return this.#engine.stats.queueSize
  }

  /**
   * Most tasks that may be queued.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get maxQueue(): number {
    return this.#engine.settings.maxQueue
  }

  /**
   * True while the queue is full. With `maxQueue: Infinity`: while as many tasks are queued as the pool has slots.
   * @see [Limit the queue](https://OWNER.github.io/lido/guides/queue.html)
   */
  get needsDrain(): boolean {
    return this.#engine.stats.needsDrain
  }

  /**
   * Settled tasks that a worker had, whatever their outcome.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get completed(): number {
    return this.#engine.stats.completed
  }

  /**
   * Milliseconds since the pool was created.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get duration(): number {
    return this.#engine.stats.durationMs
  }

  /**
   * 0 to 1: the time in which tasks ran, divided by the time of all slots. 0 with `recordTiming: false`.
   * @see [pool.utilization](https://OWNER.github.io/lido/reference/statistics.html#poolutilization)
   */
  get utilization(): number {
    return this.#engine.stats.utilization
  }

  /**
   * Wait and run times since the pool was created, or since the last reset.
   * @see [pool.histogram](https://OWNER.github.io/lido/reference/statistics.html#poolhistogram)
   */
  get histogram(): PoolHistogram {
    return this.#engine.stats.histogram
  }

  /**
   * Workers that the pool keeps alive.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get minWorkers(): number {
    return this.#engine.settings.size.minWorkers
  }

  /**
   * Most workers that the pool keeps at once.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get maxWorkers(): number {
    return this.#engine.settings.size.maxWorkers
  }

  /**
   * All options with their defaults, frozen. `resize()` replaces the object.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get options(): PoolSettings {
    return this.#engine.options
  }

  /**
   * The `worker_threads` objects of the workers that are starting or ready. Empty for processes and inline workers.
   * @see [Properties](https://OWNER.github.io/lido/reference/pool.html#properties)
   */
  get threads(): Worker[] {
    return this.workers.map(worker => worker.thread).filter(thread => thread !== null)
  }

  /**
   * What all workers print to stdout, in whole lines, with the option `output: 'pipe'`. `null` without it. Ends after the pool is closed.
   * Read it from the start, because output is dropped until the first use of this property.
   * @see [Output and logs of workers](https://OWNER.github.io/lido/guides/output.html)
   */
  get stdout(): Readable | null {
    return this.#engine.output?.stdout.stream ?? null
  }

  /**
   * What all workers print to stderr. The same holds as for `stdout`.
   * @see [Output and logs of workers](https://OWNER.github.io/lido/guides/output.html)
   */
  get stderr(): Readable | null {
    return this.#engine.output?.stderr.stream ?? null
  }

  /**
   * The workers that are starting or ready.
   * @see [WorkerView](https://OWNER.github.io/lido/reference/pool.html#workerview)
   */
  get workers(): WorkerView[] {
    return this.#engine.workers
  }

  /** @internal */
  [receiveLogs](receiver: LogReceiver): () => void {
    return this.#engine.logs.receive(receiver)
  }

  /**
   * A plain snapshot of all figures. You can log it or send it.
   * @example
   * console.log(pool.stats().tasks)
   * @see [Statistics](https://OWNER.github.io/lido/reference/statistics.html#poolstats)
   */
  stats(): PoolStats {
    return this.#engine.stats.snapshot()
  }
}
