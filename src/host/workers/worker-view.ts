// One worker as users see it: in `pool.workers`, in events and in a load balancer.
import type { ChildProcess } from 'node:child_process'
import type { Worker as Thread } from 'node:worker_threads'
import type { BackendKind } from '../backend/backend-kind.js'
import type { DurationSummary } from '../metrics/histogram.js'
import type { QueuedTask } from '../task/queued-task.js'

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

/** The parts of a worker that its view reads. */
export interface ViewedWorker {
  readonly id: number
  readonly link: {
    readonly kind: BackendKind
    readonly threadId: number
    readonly thread: Thread | null
    readonly process: ChildProcess | null
  }
  readonly state: WorkerState
  readonly usage: number
  readonly slots: number
  readonly isExclusive: boolean
  readonly histogram: DurationSummary | null
  readonly stopReason: WorkerStopReason | null
  readonly memoryBytes: number | null
  listTasks(): QueuedTask[]
  startOf(task: QueuedTask): number | null
  kill(reason: WorkerStopReason): Promise<void>
}

/**
 * When this worker started the task, in milliseconds as `performance.now()` gives it. `null` for a task that it has not started, for a
 * task without the option `timeout`, and while the answer waits for the task's output.
 */
export let startOf: (view: WorkerView, task: QueuedTask) => number | null

/** One worker of a pool. The properties always have the present values. A worker has one view for its whole life. */
export class WorkerView {
  readonly #worker: ViewedWorker

  static {
    startOf = (view, task) => view.#worker.startOf(task)
  }

  constructor(worker: ViewedWorker) {
    this.#worker = worker
  }

  /** Counts from 1 in the pool. No other worker gets the same number. */
  get id(): number {
    return this.#worker.id
  }

  /** The pool's option `backend`. */
  get backend(): BackendKind {
    return this.#worker.link.kind
  }

  /**
   * Node's id of the thread. -1 for a process and for a thread that has ended. For an inline worker, the id of the
   * host's thread.
   */
  get threadId(): number {
    return this.#worker.link.threadId
  }

  /** The id of the process in which the worker runs. */
  get pid(): number {
    return this.#worker.link.process?.pid ?? process.pid
  }

  /** `null` unless the worker is a thread. */
  get thread(): Thread | null {
    return this.#worker.link.thread
  }

  /** `null` unless the worker is a process. */
  get process(): ChildProcess | null {
    return this.#worker.link.process
  }

  /** In `pool.workers` always `'spawning'` or `'ready'`. */
  get state(): WorkerState {
    return this.#worker.state
  }

  /** Why the worker stops or has ended. `null` before that. */
  get stopReason(): WorkerStopReason | null {
    return this.state === 'draining' || this.state === 'exited' ? this.#worker.stopReason : null
  }

  /**
   * The MiB of heap and buffers that the worker held when it last measured its memory: at most every 20 to 500 ms, after a task.
   * `null` before that, for inline workers, and with `recordTiming: false` unless `maxWorkerMemoryMb` was exceeded.
   */
  get memoryMb(): number | null {
    const { memoryBytes } = this.#worker
    return memoryBytes === null ? null : memoryBytes / 2 ** 20
  }

  /** How many slots are taken, including cancelled tasks whose handlers still run. */
  get usage(): number {
    // A dead worker cannot lower its shared count of tasks.
    return this.state === 'exited' ? 0 : this.#worker.usage
  }

  /** The pool's option `concurrentTasksPerWorker`. */
  get slots(): number {
    return this.#worker.slots
  }

  /** The tasks that the worker holds, in the order in which they were accepted. */
  get tasks(): QueuedTask[] {
    return this.#worker.listTasks()
  }

  /** The worker holds a task with `exclusive: true`. */
  get isExclusive(): boolean {
    return this.#worker.isExclusive
  }

  /** No slot is taken. */
  get isIdle(): boolean {
    return this.usage === 0
  }

  /** Run times on this worker. `null` without the option `workerHistogram`. */
  get histogram(): DurationSummary | null {
    return this.#worker.histogram
  }

  /**
   * Ends this worker without a teardown: it is asked to exit, and killed after 100 ms. Its started tasks reject with
   * `WorkerExitError`. Its other tasks return to their places in the queue. Resolves when the worker has ended.
   */
  terminate(): Promise<void> {
    return this.#worker.kill('terminate')
  }
}
