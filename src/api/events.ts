// The events of a pool. The types of Node are left out, so that programs without `@types/node` get types for events.
import type { WorkerView } from './worker-view.js'

export type Listener<Events, Name extends keyof Events> = (
  ...args: Events[Name] extends unknown[] ? Events[Name] : never
) => void

export type Arguments<Events, Name extends keyof Events> = Events[Name] extends unknown[]
  ? Events[Name]
  : never

/** The methods of Node's `EventEmitter`, for the events of a pool. */
export interface Emitter<Events> {
  /**
   * Calls the listener at each event of this name:
   * - `drain`: the queue has room again, or became empty
   * - `needsDrain`: the queue became full
   * - `error`: a worker failed without a task, a teardown failed, or your `queue` failed
   * - `message`: a handler's module posted a message
   * - `workerCreate`, `workerDestroy`: a worker starts or stops
   * - `close`: the pool is closed
   * @example
   * pool.on('workerDestroy', worker => console.log(worker.id, worker.stopReason))
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  on<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Calls the listener only at the next event of this name. `on()` lists the events.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  once<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Removes the listener.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  off<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Does the same as `on()`.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  addListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Does the same as `off()`.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  removeListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Does the same as `on()`, and calls this listener before the others.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  prependListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Does the same as `once()`, and calls this listener before the others.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  prependOnceListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  /**
   * Removes the listeners of this event, or all listeners.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  removeAllListeners(event?: keyof Events): this
  /**
   * Calls the listeners of this event. The pool does so itself. Returns `false` without a listener.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  emit<Name extends keyof Events>(event: Name, ...args: Arguments<Events, Name>): boolean
  /**
   * How many listeners this event has.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  listenerCount(event: keyof Events, listener?: (...args: any[]) => void): number
  /**
   * The listeners of this event.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  listeners(event: keyof Events): ((...args: any[]) => void)[]
  /**
   * The listeners of this event, with the wrappers that `once()` makes.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  rawListeners(event: keyof Events): ((...args: any[]) => void)[]
  /**
   * The events that have listeners.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  eventNames(): (string | symbol)[]
  /**
   * The number of listeners of one event above which Node.js warns. Default 10.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  setMaxListeners(count: number): this
  /**
   * The value that `setMaxListeners()` sets.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  getMaxListeners(): number
}

/** The events of a pool with their arguments. */
export interface PoolEvents {
  /**
   * The queue has room again, or became empty.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  drain: []
  /**
   * The queue became full. With `maxQueue: Infinity`: as many tasks are queued as the pool has slots.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  needsDrain: []
  /**
   * A worker failed while it had no task, a teardown failed (`TeardownError`), or your `queue` threw or returned no task. A
   * listener is not required.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  error: [error: unknown]
  /**
   * A handler's module called `parentPort.postMessage(value)`; in a process, `process.send(value)`.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  message: [value: unknown, worker: WorkerView]
  /**
   * The pool started a worker.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  workerCreate: [worker: WorkerView]
  /**
   * A worker died, or the host asked it to stop or killed it. Its `stopReason` says why.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  workerDestroy: [worker: WorkerView]
  /**
   * The pool is closed: all workers have ended.
   * @see [Events](https://OWNER.github.io/lido/reference/pool.html#events)
   */
  close: []
}
