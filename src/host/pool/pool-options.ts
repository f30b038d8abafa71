// The options of a pool, as types. The table beside it, `pool-table`, has a rule for each.
import type { WorkerOptions } from 'node:worker_threads'
import type { ErrorClass } from '../../shared/errors/serialize-error.js'
import type { BackendKind } from '../backend/backend-kind.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { LoadBalancer } from '../scheduler/load-balancer.js'
import type { RetryOptions } from '../task/retry.js'
import type { RestartOptions } from '../workers/restart-policy.js'

export interface PoolOptions {
  /** The module with the handler: an absolute path, a `file:` string, a `URL`, or a package's name. */
  filename?: string | URL | undefined
  /** Which export is the handler. Default `'default'`. */
  name?: string | undefined
  /** A name for the pool in thread names, process titles, warnings and statistics. Default `'lido'`. */
  label?: string | undefined
  /** Workers kept alive. The constructor starts them. Default: half of the usable cores, at least 1. */
  minWorkers?: number | undefined
  /** Most workers alive at once. Default: the usable cores (available parallelism, or the container's CPU quota). */
  maxWorkers?: number | undefined
  /**
   * Processes of this program that share the machine, as under `node:cluster`. The defaults of `minWorkers` and `maxWorkers`
   * are computed from each process's part of the cores. Default 1.
   */
  clusterSize?: number | undefined
  /** Milliseconds after which an idle worker above `minWorkers` ends; `Infinity`: never. Default 30,000. */
  idleTimeout?: number | undefined
  /** Most tasks that may wait; `'auto'` is `maxWorkers²` at construction. Default `Infinity`. */
  maxQueue?: number | 'auto' | undefined
  /** Tasks that a worker holds at once. Above 1 it helps only handlers that await. Default 1. */
  concurrentTasksPerWorker?: number | undefined
  /** Heap and stack limits of each worker, as in `worker_threads`. */
  resourceLimits?: WorkerOptions['resourceLimits'] | undefined
  /** The workers' environment variables, as in `worker_threads`. */
  env?: WorkerOptions['env'] | undefined
  /** Arguments appended to the workers' `process.argv`. */
  argv?: WorkerOptions['argv'] | undefined
  /** Node's flags for each worker. */
  execArgv?: string[] | undefined
  /** A value that every worker gets as `workerData`. */
  workerData?: unknown
  /** Lowers the workers' priority; needs the package `@napi-rs/nice`. Default 0. */
  niceIncrement?: number | undefined
  /** Closes file descriptors that a worker leaves open, as in `worker_threads`. */
  trackUnmanagedFds?: boolean | undefined
  /** Milliseconds that a task may run, from its start in a worker. Then it is cancelled. Default `Infinity`. */
  timeout?: number | undefined
  /** Milliseconds that a task may wait, from the call until a worker starts it. Default `Infinity`. */
  queueTimeout?: number | undefined
  /**
   * Milliseconds that the handler of a cancelled task gets to end. Then the host kills its worker; `Infinity`: never.
   * Default 100.
   */
  cancelGrace?: number | undefined
  /** Milliseconds that `close()` waits for accepted tasks and for the workers' teardowns. Default 30,000. */
  closeTimeout?: number | undefined
  /** Tasks that a worker starts before the pool replaces it. Default `Infinity`. */
  maxTasksPerWorker?: number | undefined
  /** Milliseconds after which the pool replaces a worker. The worker finishes its started tasks first. Default `Infinity`. */
  maxWorkerAge?: number | undefined
  /**
   * MiB of heap and buffers above which the pool replaces a worker. The worker finishes its started tasks first. Default
   * `Infinity`. It has no effect on inline workers, whose heap is the program's.
   */
  maxWorkerMemoryMb?: number | undefined
  /** Milliseconds that the `teardown` exports of a worker's modules may take before the worker is killed. Default 5,000. */
  teardownTimeout?: number | undefined
  /** When the pool stops starting workers for a while, because starts fail. */
  restart?: RestartOptions | undefined
  /** Runs a task again when its worker died. A call may say otherwise. Default: never. */
  retry?: RetryOptions | undefined
  /** Your own error classes. Errors of handlers are revived as these, found by name; their constructors do not run. */
  errorClasses?: readonly ErrorClass[] | undefined
  /** Adds to the stack of each rejection where `run()` was called. Costs each call some microseconds. Default `false`. */
  callerStack?: boolean | undefined
  /** Called synchronously with the workers that accept tasks. Return one of them, or `null` to keep the task queued. */
  loadBalancer?: LoadBalancer | undefined
  /** Where tasks wait. Default: a `FifoQueue`. */
  queue?: TaskQueue | undefined
  /** Keeps histograms of wait and run times, and measures each handler. Default `true`. */
  recordTiming?: boolean | undefined
  /** Warns once for each handler that gains nothing from a worker, by `process.emitWarning`. Default `true`. */
  performanceWarnings?: boolean | undefined
  /** Keeps a histogram of run times for each worker. Default `false`. */
  workerHistogram?: boolean | undefined
  /**
   * Lets idle workers poll for up to 100 µs before they sleep, while short tasks follow each other and every awake worker and
   * the host have a core each. The host polls for answers in the same way. Default `true`.
   */
  busyWait?: boolean | undefined
  /**
   * How tasks and results travel between threads. A pool with a `loadBalancer`, or without SharedArrayBuffer, uses messages.
   * Default `'shared-memory'`.
   */
  transport?: 'shared-memory' | 'messages' | undefined
  /**
   * Where workers live: `'thread'` of this process; `'process'`, which survives crashes of native code and gives its memory
   * back; or `'inline'`, on this very thread, for debugging, tests and tiny work. Default `'thread'`.
   */
  backend?: BackendKind | undefined
}
