// The options of the calls of a pool.
import type { RetryOptions } from './pool-options.js'

export type TransferItem = import('node:worker_threads').Transferable

/** The options of `pool.run()`. */
export interface RunOptions {
  /**
   * The name of the export that is the handler. Default: the pool's.
   * @see [pool.run()](https://OWNER.github.io/lido/reference/pool.html#poolrunpayload-options)
   */
  name?: string | undefined
  /**
   * The module with the handler: an absolute path, a `file:` string or a `URL`. Default: the pool's.
   * @see [pool.run()](https://OWNER.github.io/lido/reference/pool.html#poolrunpayload-options)
   */
  filename?: string | URL | undefined
  /**
   * Aborting it cancels the task, queued or running. The call rejects at once with `TaskCancelledError`.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds that the task may run, from its start in a worker. Then the call rejects with `TaskTimeoutError`. `Infinity`: no
   * limit. Default: the pool's.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  timeout?: number | undefined
  /**
   * Milliseconds that the task may wait, from the call until a worker starts it. Then the call rejects with `TaskTimeoutError`.
   * `Infinity`: no limit. Default: the pool's.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  queueTimeout?: number | undefined
  /**
   * When the result must be there: a `Date`, or milliseconds of the epoch. Then the call rejects with `TaskTimeoutError`. Default:
   * none.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  deadline?: Date | number | undefined
  /**
   * For a call in a handler, or in a function that a handler called: the task gets the signal of that handler's task, and its deadline
   * if it is earlier. Has no effect elsewhere. Default `false`.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  inherit?: boolean | undefined
  /**
   * Gives the task its worker to itself, also with `concurrentTasksPerWorker` above 1. Default `false`.
   * @see [pool.run()](https://OWNER.github.io/lido/reference/pool.html#poolrunpayload-options)
   */
  exclusive?: boolean | undefined
  /**
   * Parts of the payload that are transferred, not copied. Processes accept only array buffers. Default `[]`.
   * @see [How data travels](https://OWNER.github.io/lido/reference/data.html)
   */
  transferList?: readonly TransferItem[] | undefined
  /**
   * A `PriorityQueue` starts tasks with a higher priority first. Default 0.
   * @see [Order, keys and tenants](https://OWNER.github.io/lido/guides/order-keys-tenants.html)
   */
  priority?: number | undefined
  /**
   * Called with each value that the handler passes to `context.progress()`. The latest value wins. It is called before the
   * promise settles, never after. If it throws, the task is cancelled.
   * @see [Show the progress of a task](https://OWNER.github.io/lido/guides/progress.html)
   */
  onProgress?: ((value: any) => void) | undefined
  /**
   * Functions that the handler may call: `await context.call('lookup', id)`. They run here, in the program that submitted the task.
   * Each may return a promise. What they throw rejects the handler's call.
   * @see [Call the program from a handler](https://OWNER.github.io/lido/guides/calling-back.html)
   */
  functions?: Record<string, (...args: any[]) => unknown> | undefined
  /**
   * Tasks with the same key run one after another, in the order of the calls: also after a retry or the death of a worker. The pool prefers
   * the worker that ran the key last. A string that is not empty. Default: none.
   * @see [Order, keys and tenants](https://OWNER.github.io/lido/guides/order-keys-tenants.html)
   */
  key?: string | undefined
  /**
   * `'serial'`: as described at `key`. `'none'`: tasks with this key may run at the same time and in any order. The key only selects the
   * preferred worker. Must not be given without `key`. Default `'serial'`.
   * @see [Order, keys and tenants](https://OWNER.github.io/lido/guides/order-keys-tenants.html)
   */
  keyOrder?: 'serial' | 'none' | undefined
  /**
   * The group of the task, for example a tenant. Groups share the workers by the pool's option `groups`, without which a group is refused.
   * A string that is not empty. Default: tasks without a group form a group of their own.
   * @see [Order, keys and tenants](https://OWNER.github.io/lido/guides/order-keys-tenants.html)
   */
  group?: string | undefined
  /**
   * A value for your own queue or load balancer, which finds it in `task.queueOptions`.
   * @see [Queues and load balancers](https://OWNER.github.io/lido/reference/queues.html)
   */
  queueOptions?: unknown
  /**
   * Runs the task again after its worker died. `{ attempts: 1 }`: never. Must not be given for a payload that is moved or has a
   * `transferList`. Default: the pool's.
   * @see [Restart, retry and replace workers](https://OWNER.github.io/lido/guides/living-with-workers.html)
   */
  retry?: RetryOptions | undefined
}

/** The options of calls by `pool.with()`. */
export type CallOptions = Omit<RunOptions, 'name' | 'transferList'>

/** The options of `pool.call()`. */
export type FunctionOptions = Omit<RunOptions, 'name' | 'filename'>

/** The options of `pool.room()`. */
export interface RoomOptions {
  /**
   * Aborting it ends the wait. The call rejects with `TaskCancelledError`.
   * @see [pool.room()](https://OWNER.github.io/lido/reference/pool.html#poolroomoptions)
   */
  signal?: AbortSignal | undefined
}

/** The options of `pool.close()`. */
export interface CloseOptions {
  /**
   * Rejects the queued tasks with `PoolClosedError` in place of running them. Default `false`.
   * @see [pool.close()](https://OWNER.github.io/lido/reference/pool.html#poolcloseoptions)
   */
  force?: boolean | undefined
}

/** The result of `pool.close()`. */
export interface CloseReport {
  /**
   * Accepted tasks that could not finish.
   * @see [pool.close()](https://OWNER.github.io/lido/reference/pool.html#poolcloseoptions)
   */
  cutOff: number
  /**
   * `closeTimeout` was over before the tasks or the workers' teardowns were done.
   * @see [pool.close()](https://OWNER.github.io/lido/reference/pool.html#poolcloseoptions)
   */
  timedOut: boolean
}

/** The options of `pool.broadcast()`. */
export interface BroadcastOptions extends Pick<RunOptions, 'name' | 'filename' | 'deadline'> {
  /**
   * Aborting it cancels the handler on all workers. The call rejects with `TaskCancelledError`. Also ends `alsoNew`, at any time
   * later.
   * @see [Call a function on every worker](https://OWNER.github.io/lido/guides/broadcast.html)
   */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds that the handler may run on each worker. `Infinity`: no limit. Default: the pool's.
   * @see [Call a function on every worker](https://OWNER.github.io/lido/guides/broadcast.html)
   */
  timeout?: number | undefined
  /**
   * Workers that start later run it too, before their first task and within `setupTimeout`, until `signal` is aborted or a newer
   * call with `alsoNew` of the same file and name replaces it. Default `false`.
   * @see [Call a function on every worker](https://OWNER.github.io/lido/guides/broadcast.html)
   */
  alsoNew?: boolean | undefined
}

/** How far a map is. */
export interface MapProgress {
  /** Items whose task has given a result. */
  done: number
  /** Items whose task has failed. */
  failed: number
  /** The number of items, where the input has a length or a size. */
  total: number | undefined
  /** Items done or failed per second, on average since the start. */
  perSecond: number
  /** The expected time until the end, in milliseconds, where `total` is known. */
  remainingMs: number | undefined
}

/** The input of a map. A promise among the items of a synchronous input is awaited. */
export type MapSource<Item> = Iterable<Item | PromiseLike<Item>> | AsyncIterable<Item>

/** The options of `pool.map()`. */
export interface MapOptions<Item = unknown, Replacement = unknown>
  extends Omit<RunOptions, 'transferList' | 'onProgress' | 'key' | 'group'> {
  /**
   * As in `run()`, for all items, or a function that returns the key of an item: a string that is not empty.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  key?: string | ((item: Item, index: number) => string) | undefined
  /**
   * As in `run()`, for all items, or a function that returns the group of an item: a string that is not empty.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  group?: string | ((item: Item, index: number) => string) | undefined
  /**
   * How many items one task has. A worker runs the items of a task one after another, also if the handler is async. `'auto'`: as many as run
   * for about 0.3 ms by the measured run times, at most 512. It begins with 1, and items of more than 0.2 ms always get their own task.
   * An integer of at least 1: so many. A task has fewer at the end of the input, before an item with its own task, and where the input waits for
   * its next item. Default `'auto'`.
   *
   * Each item keeps its own result, error and `onError`. When a worker dies, only the item that it ran fails. The map runs the items that had
   * not started again. A cancelled map starts no further item. The figures of the pool count tasks, so a task with many items counts once.
   *
   * Each item gets its own task with `key`, a `group` function, `exclusive`, `retry`, `functions`, `onItemProgress` or a time limit, also
   * when the pool sets it, and when the pool has a `loadBalancer` or a queue of your own. Then a number above 1 throws
   * `InvalidTaskError`; so does a `concurrency` below it. Moved items, items that are no plain data or contain an array of more
   * than 64 elements, and all items while somebody subscribes to `lido.task` get their own task in any case.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  itemsPerTask?: 'auto' | number | undefined
  /**
   * Most items between the input and the consumer: queued, running, or with a result that was not taken yet. An integer of at
   * least 1, or `Infinity`, with which the map reads its whole input at once. Default: 2 for each slot
   * of the pool, and up to 64 while the workers are faster than the host. With several items in a task: the items of 4 tasks for each slot, at
   * least 64.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  concurrency?: number | undefined
  /**
   * Gives the results in the order of the input. `false`: in the order in which tasks end. Default `true`.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  ordered?: boolean | undefined
  /**
   * What happens when an item's task fails. `'stop'`, the default: the map ends with that error. `'skip'`: the item has no
   * result. A function: the value that it returns, or that its promise resolves to, is the item's result.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  onError?: 'stop' | 'skip' | ((error: unknown, item: Item, index: number) => Replacement) | undefined
  /**
   * Called at most ten times a second while results come, and once at the end.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  onProgress?: ((progress: MapProgress) => void) | undefined
  /**
   * Called with each value that a handler passes to `context.progress()`, with its item and the index of the item.
   * @see [pool.map()](https://OWNER.github.io/lido/reference/pool.html#poolmapsource-options)
   */
  onItemProgress?: ((value: any, item: Item, index: number) => void) | undefined
}

/** The options of `pool.stream()`. */
export interface StreamOptions extends Omit<RunOptions, 'retry'> {
  /**
   * Most chunks that wait for the reader. Then the handler pauses. An integer of at least 1. Default 16.
   * @see [pool.stream()](https://OWNER.github.io/lido/reference/pool.html#poolstreampayload-options)
   */
  highWaterMark?: number | undefined
  /**
   * Most bytes that wait for the reader: bytes of buffers, characters of strings. The last chunk may exceed it. An integer of at
   * least 1. Default 1 MiB.
   * @see [pool.stream()](https://OWNER.github.io/lido/reference/pool.html#poolstreampayload-options)
   */
  highWaterMarkBytes?: number | undefined
}

/** The options of `pool.transform()`. `highWaterMark` and `highWaterMarkBytes` apply to each direction. */
export interface TransformOptions extends Omit<StreamOptions, 'transferList'> {
  /**
   * Transfers the buffers of chunks that are an `ArrayBuffer` or a whole typed array, in both directions. The writer can no longer
   * use them. Default `false`: chunks are copied.
   * @see [pool.transform()](https://OWNER.github.io/lido/reference/pool.html#pooltransformoptions)
   */
  transfer?: boolean | undefined
}
