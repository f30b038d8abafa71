// The events of a pool. The types of Node are left out, so that programs without `@types/node` get types for events.
import type { WorkerView } from './worker-view.js'

export type Listener<Events, Name extends keyof Events> = (
  ...args: Events[Name] extends unknown[] ? Events[Name] : never
) => void

export type Arguments<Events, Name extends keyof Events> = Events[Name] extends unknown[]
  ? Events[Name]
  : never

/** The methods of Node's `EventEmitter`, for the events of this interface. */
export interface Emitter<Events> {
  on<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  once<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  off<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  addListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  removeListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  prependListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  prependOnceListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  removeAllListeners(event?: keyof Events): this
  emit<Name extends keyof Events>(event: Name, ...args: Arguments<Events, Name>): boolean
  listenerCount(event: keyof Events, listener?: (...args: any[]) => void): number
  listeners(event: keyof Events): ((...args: any[]) => void)[]
  rawListeners(event: keyof Events): ((...args: any[]) => void)[]
  eventNames(): (string | symbol)[]
  setMaxListeners(count: number): this
  getMaxListeners(): number
}

/** The events of a pool with their arguments. */
export interface PoolEvents {
  /** The queue has room again, or became empty. */
  drain: []
  /** The queue became full. With `maxQueue: Infinity`: as many tasks are queued as the pool has slots. */
  needsDrain: []
  /**
   * A worker failed while it had no task, a teardown failed (`TeardownError`), or your `queue` threw or returned no task. A
   * listener is not required.
   */
  error: [error: unknown]
  /** A handler's module called `parentPort.postMessage(value)`; in a process, `process.send(value)`. */
  message: [value: unknown, worker: WorkerView]
  /** The pool started a worker. */
  workerCreate: [worker: WorkerView]
  /** A worker died, or the host asked it to stop or killed it. Its `stopReason` says why. */
  workerDestroy: [worker: WorkerView]
  /** The pool is closed: all workers have ended. */
  close: []
}
