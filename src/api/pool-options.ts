// The options of a pool. `host/options/table` has a rule for each of them.

import type { WorkerOptions } from 'node:worker_threads'
import type { LoadBalancer, TaskQueue } from './queue.js'
import type { BackendKind } from './worker-view.js'

/** The options of `new Pool()`. All are optional; `undefined` means "not given". `Module` is the type of the handlers' module. */
export interface PoolOptions<Module = any> {
  /**
   * The module with the handler: an absolute path, a `file:` string, a `URL`, or a package's name. Without it each call
   * of `run()` gives its own `filename`.
   * @see [filename](https://OWNER.github.io/lido/reference/pool.html#filename)
   */
  filename?: string | URL | undefined
  /**
   * The module with the handler, in place of `filename`: `module: () => import('./work.js')`. lido reads the path from the text of the
   * function and does not call it, so bundlers find the file. Inline workers call it, so the mocks of a test runner apply.
   * They also accept a loaded module: `module: await import('./work.js')`.
   * @see [module](https://OWNER.github.io/lido/reference/pool.html#module)
   */
  module?: Module | (() => Promise<Module>) | undefined
  /**
   * The file from whose folder the relative paths of `module` and `filename` start: `import.meta.url`, or `__filename` in CommonJS.
   * Default: the file that calls the constructor, where it is known.
   * @see [base](https://OWNER.github.io/lido/reference/pool.html#base)
   */
  base?: string | URL | undefined
  /**
   * The name of the export that is the handler. Default `'default'`.
   * @see [name](https://OWNER.github.io/lido/reference/pool.html#name)
   */
  name?: string | undefined
  /**
   * The name of the pool in thread names, process titles, warnings and statistics. Default `'lido'`.
   * @see [label](https://OWNER.github.io/lido/reference/pool.html#label)
   */
  label?: string | undefined
  /**
   * Workers kept alive, 0 to 4,096. The constructor starts them. Default: half of the usable cores, at least 1.
   * @see [minWorkers](https://OWNER.github.io/lido/reference/pool.html#minworkers-maxworkers)
   */
  minWorkers?: number | undefined
  /**
   * Most workers alive at once, 1 to 4,096. Default: the usable cores, which are `os.availableParallelism()` lowered to
   * the CPU quota of the process's control groups, as of a container or a systemd unit.
   * @see [maxWorkers](https://OWNER.github.io/lido/reference/pool.html#minworkers-maxworkers)
   */
  maxWorkers?: number | undefined
  /**
   * How many processes of this program share the machine, as under `node:cluster`. The defaults of `minWorkers` and
   * `maxWorkers` are then computed from each process's part of the cores. Default 1.
   * @see [clusterSize](https://OWNER.github.io/lido/reference/pool.html#clustersize)
   */
  clusterSize?: number | undefined
  /**
   * Milliseconds after which an idle worker above `minWorkers` stops; `Infinity`: never. Default 30,000.
   * @see [idleTimeout](https://OWNER.github.io/lido/reference/pool.html#idletimeout)
   */
  idleTimeout?: number | undefined
  /**
   * Most tasks that may be queued. The next `run()` rejects with `QueueFullError`. 0: a call rejects when all slots are
   * taken. `'auto'` is the square of the constructor's `maxWorkers`. Default `Infinity`.
   * @see [maxQueue](https://OWNER.github.io/lido/reference/pool.html#maxqueue)
   */
  maxQueue?: number | 'auto' | undefined
  /**
   * Slots of a worker: tasks that it runs at once. Above 1 it helps only handlers that await. Default 1.
   * @see [concurrentTasksPerWorker](https://OWNER.github.io/lido/reference/pool.html#concurrenttasksperworker)
   */
  concurrentTasksPerWorker?: number | undefined
  /**
   * Heap and stack limits of each worker in megabytes, as in `worker_threads`. Processes accept only the two limits of
   * the heap. Inline workers ignore it.
   * @see [resourceLimits](https://OWNER.github.io/lido/reference/pool.html#resourcelimits)
   */
  resourceLimits?: WorkerOptions['resourceLimits'] | undefined
  /**
   * The workers' environment variables, as in `worker_threads`. Processes refuse `SHARE_ENV`. Default: the program's.
   * @see [env](https://OWNER.github.io/lido/reference/pool.html#env)
   */
  env?: WorkerOptions['env'] | undefined
  /**
   * Arguments appended to the workers' `process.argv`.
   * @see [Pool options](https://OWNER.github.io/lido/reference/pool.html#options)
   */
  argv?: WorkerOptions['argv'] | undefined
  /**
   * Node's flags for each worker, as `['--import', 'tsx']`. Default: the program's.
   * @see [execArgv](https://OWNER.github.io/lido/reference/pool.html#execargv)
   */
  execArgv?: string[] | undefined
  /**
   * A value that every worker gets as `workerData` of `lido/worker`. It is copied.
   * @see [workerData](https://OWNER.github.io/lido/reference/pool.html#workerdata)
   */
  workerData?: unknown
  /**
   * Lowers the workers' priority, 0 to 100. Needs the package `@napi-rs/nice`. Default 0.
   * @see [niceIncrement](https://OWNER.github.io/lido/reference/pool.html#niceincrement)
   */
  niceIncrement?: number | undefined
  /**
   * Closes file descriptors that a worker thread leaves open, as in `worker_threads`. Default `true`.
   * @see [trackUnmanagedFds](https://OWNER.github.io/lido/reference/pool.html#trackunmanagedfds)
   */
  trackUnmanagedFds?: boolean | undefined
  /**
   * Where the workers print. `'inherit'`: to the output of the program. `'pipe'`: to the streams `pool.stdout` and `pool.stderr`. Has no
   * effect on inline workers. Default `'inherit'`.
   * @see [output](https://OWNER.github.io/lido/reference/pool.html#output)
   */
  output?: 'inherit' | 'pipe' | undefined
  /**
   * Milliseconds that a task may run, from its start in a worker. Then the call rejects with `TaskTimeoutError`.
   * Default `Infinity`.
   * @see [timeout](https://OWNER.github.io/lido/reference/pool.html#timeout)
   */
  timeout?: number | undefined
  /**
   * Milliseconds that a task may wait, from the call until a worker starts it. Then the call rejects with
   * `TaskTimeoutError`. Default `Infinity`.
   * @see [queueTimeout](https://OWNER.github.io/lido/reference/pool.html#queuetimeout)
   */
  queueTimeout?: number | undefined
  /**
   * Milliseconds that the handler of a cancelled task may go on. Then the host kills its worker. 0: at once;
   * `Infinity`: never. Default 100.
   * @see [cancelGrace](https://OWNER.github.io/lido/reference/pool.html#cancelgrace)
   */
  cancelGrace?: number | undefined
  /**
   * Milliseconds that `close()` waits for accepted tasks and for the workers' teardowns. Then tasks reject with
   * `PoolClosedError`. Default 30,000.
   * @see [closeTimeout](https://OWNER.github.io/lido/reference/pool.html#closetimeout)
   */
  closeTimeout?: number | undefined
  /**
   * Tasks that a worker starts before the pool replaces it. The worker finishes them first. Default `Infinity`.
   * @see [maxTasksPerWorker](https://OWNER.github.io/lido/reference/pool.html#maxtasksperworker)
   */
  maxTasksPerWorker?: number | undefined
  /**
   * Milliseconds after which the pool replaces a worker. The worker finishes its started tasks first. Default
   * `Infinity`.
   * @see [maxWorkerAge](https://OWNER.github.io/lido/reference/pool.html#maxworkerage)
   */
  maxWorkerAge?: number | undefined
  /**
   * MiB of heap and buffers above which the pool replaces a worker. The worker finishes its started tasks first.
   * Default `Infinity`. It has no effect on inline workers, whose heap is the program's.
   * @see [maxWorkerMemoryMb](https://OWNER.github.io/lido/reference/pool.html#maxworkermemorymb)
   */
  maxWorkerMemoryMb?: number | undefined
  /**
   * Milliseconds that the `setup` export of a worker's module may take. Then the start of the worker has failed. 0: `setup` is
   * an ordinary export that the pool does not call. Default 60,000.
   * @see [setupTimeout](https://OWNER.github.io/lido/reference/pool.html#setuptimeout)
   */
  setupTimeout?: number | undefined
  /**
   * Milliseconds that the `teardown` exports of a worker's modules may take. Then the host kills the worker. Default
   * 5,000.
   * @see [teardownTimeout](https://OWNER.github.io/lido/reference/pool.html#teardowntimeout)
   */
  teardownTimeout?: number | undefined
  /**
   * How many failed starts the pool accepts before it stops starting workers for some time.
   * @see [restart](https://OWNER.github.io/lido/reference/pool.html#restart)
   */
  restart?: RestartOptions | undefined
  /**
   * Runs a task again after its worker died. A call may give its own value. Default: never.
   * @see [retry](https://OWNER.github.io/lido/reference/pool.html#retry)
   */
  retry?: RetryOptions | undefined
  /**
   * Your own error classes. An error of a handler gets the class of the same name back. The constructor does not run.
   * Default `[]`.
   * @see [errorClasses](https://OWNER.github.io/lido/reference/pool.html#errorclasses)
   */
  errorClasses?: readonly ErrorClass[] | undefined
  /**
   * Adds the stack of the `run()` call to each rejection. Costs each call some microseconds. Default `false`.
   * @see [callerStack](https://OWNER.github.io/lido/reference/pool.html#callerstack)
   */
  callerStack?: boolean | undefined
  /**
   * Called synchronously with the workers that accept tasks. Returns one of them, or `null` to keep the task queued.
   * Tasks then travel as messages. Default: the first free worker takes the task.
   * @see [loadBalancer](https://OWNER.github.io/lido/reference/pool.html#loadbalancer)
   */
  loadBalancer?: LoadBalancer | undefined
  /**
   * The object that holds the queued tasks. It belongs to one open pool at a time. Default: a `FifoQueue`.
   * @see [queue](https://OWNER.github.io/lido/reference/pool.html#queue)
   */
  queue?: TaskQueue | undefined
  /**
   * Shares the workers among the groups of tasks, by the run time of their tasks. `groups: {}`: equal shares without a limit. Must not be
   * combined with `queue`. Default: calls have no groups.
   * @see [groups](https://OWNER.github.io/lido/reference/pool.html#groups)
   */
  groups?: GroupOptions | undefined
  /**
   * Milliseconds of waiting that count as one step of `priority`, so that no task waits without end. `Infinity`: waiting
   * does not count. The pool then uses a `PriorityQueue`; with `groups`, the order by priority holds within each group. Must not be combined
   * with `queue`. Default: none.
   * @see [aging](https://OWNER.github.io/lido/reference/pool.html#aging)
   */
  aging?: number | undefined
  /**
   * Keeps histograms of wait and run times, and measures each handler. Default `true`.
   * @see [recordTiming](https://OWNER.github.io/lido/reference/pool.html#recordtiming)
   */
  recordTiming?: boolean | undefined
  /**
   * Emits a `LidoWarning` once for each handler that gains nothing from a worker. Default `true`.
   * @see [performanceWarnings](https://OWNER.github.io/lido/reference/pool.html#performancewarnings)
   */
  performanceWarnings?: boolean | undefined
  /**
   * Keeps a histogram of run times for each worker, see `WorkerView`. Default `false`.
   * @see [workerHistogram](https://OWNER.github.io/lido/reference/pool.html#workerhistogram)
   */
  workerHistogram?: boolean | undefined
  /**
   * An idle worker may poll for up to 60 µs before it sleeps, and the host for up to 40 µs.
   * - `'auto'`: while short tasks follow each other and the cores are free. The default.
   * - `true`: also while other threads of the machine need the cores.
   * - `false`: never.
   * @see [busyWait](https://OWNER.github.io/lido/reference/pool.html#busywait)
   */
  busyWait?: 'auto' | boolean | undefined
  /**
   * How tasks and results travel between threads. A pool with a `loadBalancer` always uses messages. Default
   * `'shared-memory'`.
   * @see [transport](https://OWNER.github.io/lido/reference/pool.html#transport)
   */
  transport?: 'shared-memory' | 'messages' | undefined
  /**
   * Where handlers run. `'thread'`: in threads of this process. `'process'`: in processes of their own, so that the
   * program survives crashes of native code. `'inline'`: on the host's thread, for debugging and tests. Default
   * `'thread'`.
   * @see [backend](https://OWNER.github.io/lido/reference/pool.html#backend)
   */
  backend?: BackendKind | undefined
}

/** A class for the option `errorClasses`. */
export type ErrorClass = abstract new (...args: never[]) => Error

/** The option `restart`: limits how often the pool starts workers that fail to start. */
export interface RestartOptions {
  /**
   * Failed starts within `period` that open the circuit: then calls reject with `RestartLimitError` while no worker is
   * alive. An integer from 1 to 1,000, or `Infinity`: the circuit never opens. Default 5.
   * @see [restart](https://OWNER.github.io/lido/reference/pool.html#restart)
   */
  failures?: number | undefined
  /**
   * Milliseconds in which failed starts are counted. Default 10,000.
   * @see [restart](https://OWNER.github.io/lido/reference/pool.html#restart)
   */
  period?: number | undefined
  /**
   * Milliseconds until the pool starts one worker again. Doubles each time that worker fails, up to 30,000. Default
   * 1,000.
   * @see [restart](https://OWNER.github.io/lido/reference/pool.html#restart)
   */
  pause?: number | undefined
}

/** The option `groups`: how groups of tasks share the workers. */
export interface GroupOptions {
  /**
   * The most tasks of one group that run at the same time. A cancelled task counts until its handler has ended. A task that a function of a
   * waiting task submits takes the place of that task. An integer of at least 1, or `Infinity`. Default `Infinity`.
   * @see [groups](https://OWNER.github.io/lido/reference/pool.html#groups)
   */
  limit?: number | undefined
  /**
   * The weight of a group: a number above 0. While several groups have waiting tasks, each gets run time in proportion to its weight. The
   * pool calls the function each time a group without tasks gets a task. If it throws or returns another value, the call of `run()`
   * rejects. Weights below 0.000001 and above 1,000,000 count as these limits. Default: each group has the weight 1. The group of tasks
   * without a group is `''`.
   * @see [groups](https://OWNER.github.io/lido/reference/pool.html#groups)
   */
  weight?: ((group: string) => number) | undefined
}

/** The option `retry`: runs a task again. */
export interface RetryOptions {
  /**
   * Runs of the task in all, 1 to 100. 1 means no retry.
   * @see [retry](https://OWNER.github.io/lido/reference/pool.html#retry)
   */
  attempts: number
  /**
   * Called while an attempt is left, after the worker died and after the handler threw. `attempt` counts from 1. The
   * task runs again only if it returns `true`; a promise does not count. If it throws, the call rejects with that
   * error. Without `when`, the task runs again only after its worker died.
   * @see [retry](https://OWNER.github.io/lido/reference/pool.html#retry)
   */
  when?: ((error: unknown, attempt: number) => boolean) | undefined
}

/** The options of `pool.resize()`. */
export interface ResizeOptions {
  /**
   * Workers kept alive, 0 to 4,096. Without it the value stays, or is lowered to the new `maxWorkers`.
   * @see [pool.resize()](https://OWNER.github.io/lido/reference/pool.html#poolresizeoptions)
   */
  minWorkers?: number | undefined
  /**
   * Most workers alive at once, 1 to 4,096. Without it the value stays, or is raised to the new `minWorkers`.
   * @see [pool.resize()](https://OWNER.github.io/lido/reference/pool.html#poolresizeoptions)
   */
  maxWorkers?: number | undefined
}

/** These stay `undefined` when they are not given. */
type WithoutDefault =
  | 'filename'
  | 'module'
  | 'base'
  | 'resourceLimits'
  | 'env'
  | 'argv'
  | 'execArgv'
  | 'workerData'
  | 'retry'
  | 'loadBalancer'
  | 'groups'
  | 'aging'

type Complete<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> }

/** All options of a pool with their defaults: the value of `pool.options`. */
export interface PoolSettings
  extends Complete<Omit<PoolOptions, WithoutDefault | 'maxQueue' | 'restart'>>,
    Readonly<Pick<PoolOptions, WithoutDefault>> {
  /** An absolute path. `undefined`: each call gives its own file. */
  readonly filename: string | undefined
  /** Only of inline workers. Otherwise `filename` is the file that the option `module` named. */
  readonly module: PoolOptions['module']
  /** A number, also for the option `'auto'`. A queue with a `capacity` lowers it. */
  readonly maxQueue: number
  /** The option with the defaults of its fields. */
  readonly restart: Complete<RestartOptions>
}

/** For adapters. Returns the options with which one worker starts. The backend gets them in place of the pool's. */
export type AdaptStart = (
  workerOptions: Readonly<Record<string, unknown>>,
  workerId: number,
) => Record<string, unknown>
