// One worker as users see it: in `pool.workers`, in events, and where a balancer chooses.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { BackendKind } from '../backend/backend-kind.js'
import type { DurationSummary } from '../metrics/histogram.js'
import type { QueuedTask } from '../task/queued-task.js'
import type { WorkerState } from './worker-life.js'

/** What it is a view of. */
export interface ViewedWorker {
  readonly id: number
  readonly link: {
    readonly kind: BackendKind
    readonly threadId: number
    readonly thread: Worker | null
    readonly process: ChildProcess | null
  } | null
  readonly state: WorkerState
  readonly usage: number
  readonly slots: number
  readonly isExclusive: boolean
  readonly histogram: DurationSummary | null
  tasks(): QueuedTask[]
}

/** Live, and the same object all its worker's life. */
export class WorkerView {
  readonly #worker: ViewedWorker
  readonly #terminate: () => Promise<void>

  constructor(worker: ViewedWorker, terminate: () => Promise<void>) {
    this.#worker = worker
    this.#terminate = terminate
  }

  /** Numbered from 1 within the pool; never used again. */
  get id(): number {
    return this.#worker.id
  }

  /** Where it lives. */
  get backend(): BackendKind {
    return this.#worker.link!.kind
  }

  /** Node's number of the thread; -1 when it has ended, and for a process. Inline it is the host's own. */
  get threadId(): number {
    return this.#worker.link?.threadId ?? -1
  }

  /** The system's number of the process that it lives in. */
  get pid(): number {
    return this.#worker.link?.process?.pid ?? process.pid
  }

  /** `null` for a worker that is no thread of its own. */
  get thread(): Worker | null {
    return this.#worker.link!.thread
  }

  /** `null` for a worker that is no process of its own. */
  get process(): ChildProcess | null {
    return this.#worker.link!.process
  }

  get state(): WorkerState {
    return this.#worker.state
  }

  /** Tasks it holds. */
  get usage(): number {
    // By the lane it counts them itself, and dead ones count nothing down.
    return this.state === 'exited' ? 0 : this.#worker.usage
  }

  get slots(): number {
    return this.#worker.slots
  }

  /** The tasks it holds, in the order in which they came. */
  get tasks(): QueuedTask[] {
    return this.#worker.tasks()
  }

  /** It holds a task that runs alone. */
  get isExclusive(): boolean {
    return this.#worker.isExclusive
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  /** Run times on this worker; `null` without `workerHistogram`. */
  get histogram(): DurationSummary | null {
    return this.#worker.histogram
  }

  /**
   * Ends this worker now. Tasks that it has begun reject with `WorkerExitError`; those it has not begun go back to where
   * they stood. Resolves when it has ended.
   */
  terminate(): Promise<void> {
    return this.#terminate()
  }
}
