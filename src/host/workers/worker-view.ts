// One worker as users see it: in `pool.workers`, in events and in a load balancer.

import type { ChildProcess } from 'node:child_process'
import type { Worker as Thread } from 'node:worker_threads'
import type { DurationSummary } from '../../api/durations.js'
import type { QueuedTask } from '../../api/queued-task.js'
import type { BackendKind, WorkerState, WorkerStopReason, WorkerView } from '../../api/worker-view.js'
import { realClock } from '../../shared/platform/clock.js'

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
  readonly tasks: { list(): QueuedTask[]; startOf(task: QueuedTask, now: number): number | null }
  kill(reason: WorkerStopReason): Promise<void>
}

/** The view of a worker. */
export class View implements WorkerView {
  readonly #worker: ViewedWorker

  constructor(worker: ViewedWorker) {
    this.#worker = worker
  }

  get id(): number {
    return this.#worker.id
  }

  get backend(): BackendKind {
    return this.#worker.link.kind
  }

  get threadId(): number {
    return this.#worker.link.threadId
  }

  get pid(): number {
    return this.#worker.link.process?.pid ?? process.pid
  }

  get thread(): Thread | null {
    return this.#worker.link.thread
  }

  get process(): ChildProcess | null {
    return this.#worker.link.process
  }

  get state(): WorkerState {
    return this.#worker.state
  }

  get stopReason(): WorkerStopReason | null {
    return this.state === 'draining' || this.state === 'exited' ? this.#worker.stopReason : null
  }

  get memoryMb(): number | null {
    const { memoryBytes } = this.#worker
    return memoryBytes === null ? null : memoryBytes / 2 ** 20
  }

  get usage(): number {
    // A dead worker cannot lower its shared count of tasks.
    return this.state === 'exited' ? 0 : this.#worker.usage
  }

  get slots(): number {
    return this.#worker.slots
  }

  get tasks(): QueuedTask[] {
    return this.#worker.tasks.list()
  }

  get isExclusive(): boolean {
    return this.#worker.isExclusive
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  get histogram(): DurationSummary | null {
    return this.#worker.histogram
  }

  terminate(): Promise<void> {
    return this.#worker.kill('terminate')
  }

  startOf(task: QueuedTask): number | null {
    return this.#worker.tasks.startOf(task, realClock.now())
  }
}
