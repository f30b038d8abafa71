// One worker as the host knows it: its state, and what it holds. It is told; others decide.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import { claimMuchStack } from '../../shared/base/claim-stack.js'
import type { BackendKind, WorkerLink } from '../backend/backend.js'
import { DurationHistogram, type DurationSummary } from '../observe/histogram.js'
import type { PlacementView } from '../scheduler/placement.js'
import type { IdleView } from '../scheduler/scaling.js'
import type { QueuedTask, Task, TaskHolder } from '../task/task.js'
import type { Holding } from './holding.js'
import type { WorkerState } from './worker-life.js'

export class WorkerHandle implements PlacementView, IdleView, TaskHolder {
  readonly id: number
  readonly slots: number
  readonly holding: Holding
  readonly histogram: DurationHistogram | null
  readonly view: WorkerView
  readonly #mostTasks: number
  link: WorkerLink | null = null
  state: WorkerState = 'spawning'
  /** It takes no more tasks, and ends when it holds none. */
  isLeaving = false
  /** It has said so itself: nothing that it has not begun will be begun, except what was given away to it. */
  hasStopped = false
  /** A module that it has loaded exports a teardown. */
  hasTeardown = false
  readonly bornAt: number
  idleSince: number
  /** Tasks it has answered. */
  answers = 0
  /** Payloads posted on its channel so far. */
  posted = 0
  readonly #knownHandlers = new Set<number>()

  constructor(
    id: number,
    slots: number,
    holding: Holding,
    withHistogram: boolean,
    mostTasks: number,
    now: number,
    terminate: (worker: WorkerHandle) => Promise<void>,
  ) {
    this.id = id
    this.slots = slots
    this.holding = holding
    this.histogram = withHistogram ? new DurationHistogram() : null
    this.#mostTasks = mostTasks
    this.bornAt = now
    this.idleSince = now
    this.view = new WorkerView(this, terminate)
  }

  get isReady(): boolean {
    return this.state === 'ready'
  }

  get usage(): number {
    return this.holding.usage
  }

  get isExclusive(): boolean {
    return this.holding.isExclusive
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  /** It has begun all the tasks that it may, as far as its answers tell; its own word may be on its way. */
  get isSpent(): boolean {
    return this.answers + this.usage >= this.#mostTasks
  }

  /** The tasks it holds, in the order in which they came. */
  tasks(): Task[] {
    return this.holding.tasks()
  }

  /** True when some task began here, answered or not. */
  get hasWorked(): boolean {
    return this.answers > 0 || this.tasks().some(task => this.holding.hasBegun(task))
  }

  knows(handlerId: number): boolean {
    return this.#knownHandlers.has(handlerId)
  }

  learn(handlerId: number): void {
    this.#knownHandlers.add(handlerId)
  }
}

/** A worker as users see it: live, and the same object all its life. */
export class WorkerView {
  readonly #worker: WorkerHandle
  readonly #terminate: (worker: WorkerHandle) => Promise<void>

  constructor(worker: WorkerHandle, terminate: (worker: WorkerHandle) => Promise<void>) {
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
    claimMuchStack()
    return this.#terminate(this.#worker)
  }
}
