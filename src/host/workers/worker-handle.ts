// One worker as the host knows it: its state, and what it holds. It is told; others decide.
import type { WorkerLink } from '../backend/backend.js'
import { DurationHistogram } from '../metrics/histogram.js'
import type { PlacementView } from '../scheduler/placement.js'
import type { BusyView } from '../scheduler/scaling.js'
import type { Task, TaskHolder } from '../task/task.js'
import type { Holding } from './holding.js'
import type { WorkerState } from './worker-life.js'
import { type ViewedWorker, WorkerView } from './worker-view.js'

export class WorkerHandle implements PlacementView, BusyView, TaskHolder, ViewedWorker {
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
    this.view = new WorkerView(this, () => terminate(this))
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
