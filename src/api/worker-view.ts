// One worker as users see it: in `pool.workers`, in events and in a load balancer.
import type { ChildProcess } from 'node:child_process'
import type { Worker as Thread } from 'node:worker_threads'
import type { DurationSummary } from './durations.js'
import type { QueuedTask } from './queued-task.js'

/** `spawning`: the worker starts. `draining`: the host has asked it to stop, or kills it. */
export type WorkerState = 'spawning' | 'ready' | 'draining' | 'exited'

/**
 * Why a worker stopped. Most reasons have the name of the option or the method that asked for it.
 * - `cancel`: the handler of a cancelled task ran on
 * - `load`: a file of a handler did not load twice
 * - `damage`: the worker damaged its result ring
 * - `death`: the worker ended by itself, or did not start
 */
export type WorkerStopReason =
  | 'close'
  | 'closeTimeout'
  | 'destroy'
  | 'recycle'
  | 'reload'
  | 'resize'
  | 'terminate'
  | 'idleTimeout'
  | 'maxTasksPerWorker'
  | 'maxWorkerAge'
  | 'maxWorkerMemoryMb'
  | 'cancel'
  | 'load'
  | 'damage'
  | 'death'

/** One worker of a pool. The properties always have the present values. A worker has one view for its whole life. */
export interface WorkerView {
  /** Counts from 1 in the pool. No other worker gets the same number. */
  readonly id: number
  /** The pool's option `backend`. */
  readonly backend: BackendKind
  /**
   * Node's id of the thread. -1 for a process and for a thread that has ended. For an inline worker, the id of the
   * host's thread.
   */
  readonly threadId: number
  /** The id of the process in which the worker runs. */
  readonly pid: number
  /** `null` unless the worker is a thread. */
  readonly thread: Thread | null
  /** `null` unless the worker is a process. */
  readonly process: ChildProcess | null
  /** In `pool.workers` always `'spawning'` or `'ready'`. */
  readonly state: WorkerState
  /** Why the worker stops or has ended. `null` before that. */
  readonly stopReason: WorkerStopReason | null
  /**
   * The MiB of heap and buffers that the worker held when it last measured its memory: at most every 20 to 500 ms, after a task.
   * `null` before that, for inline workers, and with `recordTiming: false` unless `maxWorkerMemoryMb` was exceeded.
   */
  readonly memoryMb: number | null
  /** How many slots are taken, including cancelled tasks whose handlers still run. */
  readonly usage: number
  /** The pool's option `concurrentTasksPerWorker`. */
  readonly slots: number
  /** The tasks that the worker holds, in the order in which they were accepted. */
  readonly tasks: QueuedTask[]
  /**
   * When this worker started the task, in milliseconds as `performance.now()` gives it. `null` for a task that it has not started, for a
   * task without the option `timeout`, and while the answer waits for the task's output.
   */
  startOf(task: QueuedTask): number | null
  /** The worker holds a task with `exclusive: true`. */
  readonly isExclusive: boolean
  /** No slot is taken. */
  readonly isIdle: boolean
  /** Run times on this worker. `null` without the option `workerHistogram`. */
  readonly histogram: DurationSummary | null
  /**
   * Ends this worker without a teardown: it is asked to exit, and killed after 100 ms. Its started tasks reject with
   * `WorkerExitError`. Its other tasks return to their places in the queue. Resolves when the worker has ended.
   */
  terminate(): Promise<void>
}

/** Threads of this process, processes of their own, or the host's own thread. */
export type BackendKind = 'thread' | 'process' | 'inline'
