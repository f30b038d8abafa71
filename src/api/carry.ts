// How a store of the program crosses to the worker. See `carry()` of `lido/worker`.
import type { TaskMessage } from './channels.js'

/** A store that each task carries from its caller to its handler. */
export interface Carried<Value = unknown> {
  /** The same name in the program and in the worker. */
  name: string
  /**
   * Called in the async context of the caller, before the task is queued. Returns a value that structured clone can copy. `undefined`:
   * the task carries nothing. `task` is the message of the channel `lido.task`, when somebody subscribes to it.
   */
  capture(task?: TaskMessage): Value | undefined
  /** Called in the worker, around the handler. Calls the callback with the value in the store, and returns its result. */
  run<Result>(value: Value, callback: () => Result): Result
}

/** The options of `carry()` for an `AsyncLocalStorage`. */
export interface CarryOptions<Store = any> {
  /**
   * The same name in the program and in the worker.
   * @see [carry()](https://OWNER.github.io/lido/reference/worker.html#carrystorage-options)
   */
  name: string
  /**
   * Returns the part of the store that the worker needs. Default: the whole store. `undefined`: the task carries nothing.
   * @see [carry()](https://OWNER.github.io/lido/reference/worker.html#carrystorage-options)
   */
  pick?: (store: Store) => unknown
}
