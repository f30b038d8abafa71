// One worker as users see it: in `pool.workers`, in events and in a load balancer.
import type { ChildProcess } from 'node:child_process'
import type { Worker as Thread } from 'node:worker_threads'
import type { BackendKind } from '../backend/backend-kind.js'
import type { DurationSummary } from '../metrics/histogram.js'
import type { QueuedTask } from '../task/queued-task.js'

export type WorkerState = 'spawning' | 'ready' | 'draining' | 'exited'

/** The worker behind the view. */
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
  listTasks(): QueuedTask[]
  kill(): Promise<void>
}

/** Always shows the present state. A worker has one view for its whole life. */
export class WorkerView {
  readonly #worker: ViewedWorker

  constructor(worker: ViewedWorker) {
    this.#worker = worker
  }

  /** Counts from 1 within the pool. No other worker gets the same number. */
  get id(): number {
    return this.#worker.id
  }

  /** The kind of the worker. */
  get backend(): BackendKind {
    return this.#worker.link.kind
  }

  /** Node's id of the thread. -1 for a process and for a thread that has ended. The host's own id for an inline worker. */
  get threadId(): number {
    return this.#worker.link.threadId
  }

  /** The system's id of the worker's process. */
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

  get state(): WorkerState {
    return this.#worker.state
  }

  /** How many tasks the worker holds. */
  get usage(): number {
    // A dead worker no longer counts its shared number down.
    return this.state === 'exited' ? 0 : this.#worker.usage
  }

  get slots(): number {
    return this.#worker.slots
  }

  /** The tasks that the worker holds, in the order in which they were accepted. */
  get tasks(): QueuedTask[] {
    return this.#worker.listTasks()
  }

  /** The worker holds a task that runs alone. */
  get isExclusive(): boolean {
    return this.#worker.isExclusive
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  /** Run times on this worker. `null` without `workerHistogram`. */
  get histogram(): DurationSummary | null {
    return this.#worker.histogram
  }

  /**
   * Ends this worker now. Its started tasks reject with `WorkerExitError`. Its other tasks return to their places in the queue.
   * Resolves when the worker has ended.
   */
  terminate(): Promise<void> {
    return this.#worker.kill()
  }
}
