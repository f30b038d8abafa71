// Decides how many tasks the host posts before a slot is free. A queue with its own order keeps a task until then, because a more urgent task
// may come. If the queue can take tasks back, the host posts some ahead, so that workers need not wait for the host.
import type { LoadBalancer } from '../../api/queue.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { WorkerWaker } from '../lane/wake-workers.js'
import type { Task } from '../task/task.js'
import { hasRoomFor } from '../workers/placement.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PendingTasks } from './pending.js'

/** A wake-up costs as much as several short tasks. Taking a task back costs less than a short task. */
const MIN_AHEAD = 8
/** Further tasks are posted ahead up to this work: a worker should not run out of short tasks before the host's next turn (row P22). */
const AHEAD_MS = 1
const MAX_AHEAD = 256

export interface LookAheadParts {
  group: WorkerGroup
  pending: PendingTasks
  posted: PostedTasks
  /** `null`: the host sends all tasks by message. */
  waker: WorkerWaker | null
  loadBalancer: LoadBalancer | null
  /** False for processes: a process may have started a sent task without the host knowing it yet. */
  canTakeBack: boolean
}

export class LookAhead {
  readonly #parts: LookAheadParts
  /** How many tasks of an ordered queue the host may post ahead. Each post raises it, and so pays for a later recall. */
  #ahead = MIN_AHEAD
  /** The `priority` of the last task that an ordered queue gave to the lane. All unclaimed tasks are at least as urgent. */
  #lastPriority = 0

  constructor(parts: LookAheadParts) {
    this.#parts = parts
  }

  /** Call it when the posted tasks have returned to the queue. */
  onRecalled(): void {
    this.#ahead = MIN_AHEAD
  }

  /** True when the empty queue would give this task back at once, and the lane has a place for it. */
  mayPassQueue(task: Task): boolean {
    return this.#parts.pending.isByPriority && this.isWorthPeeking && this.isBehindPosted(task)
  }

  /** True when no posted task must come back for this one. */
  isBehindPosted(task: Task): boolean {
    return !this.isAnyUnclaimed || (this.#parts.pending.isByPriority && task.priority <= this.#lastPriority)
  }

  /** Call it when an ordered queue gave the task to the lane. */
  onPosted(task: Task): void {
    this.#lastPriority = task.priority
    const runMs = this.#parts.waker!.runTimes.of(task.handlerId)
    if (this.#ahead * runMs > AHEAD_MS) this.#ahead = Math.max(Math.floor(AHEAD_MS / runMs), MIN_AHEAD)
    else if (this.#ahead < MAX_AHEAD && this.#mayStayAhead) this.#ahead++
  }

  /** An empty queue gives each new task back first. Then the host must ask it about all posted tasks, unless it knows the rule. */
  get #mayStayAhead(): boolean {
    return this.#parts.pending.isByPriority || this.#parts.pending.size > 2 * this.#ahead
  }

  /**
   * A queue with its own order keeps a task until a slot is free: a more urgent task may come. If the queue can take tasks back, the host
   * posts some ahead, so that workers need not wait for the host.
   */
  get isWorthPeeking(): boolean {
    const { canTakeBack, waker, loadBalancer } = this.#parts
    if (this.#parts.pending.isFirstInFirstOut) return true
    if (loadBalancer !== null) return this.#parts.group.workers.some(worker => hasRoomFor(worker, false))
    if (waker !== null) {
      const ahead = this.#parts.pending.keepsPlaces
        ? Math.max(this.#parts.group.acceptingWorkers * this.#parts.posted.slots.perWorker, this.#ahead)
        : 0
      return this.#parts.posted.slots.used < this.#parts.posted.slots.total + ahead
    }
    const mayTake = (worker: Worker) => worker.isReady || canTakeBack
    return this.#parts.group.workers.some(worker => mayTake(worker) && hasRoomFor(worker, false))
  }

  get isAnyUnclaimed(): boolean {
    const { queue } = this.#parts.posted
    if (queue.unclaimed > 0) return true
    return (
      queue.inInboxes > 0 &&
      this.#parts.group.workers.some(({ id }) => this.#parts.posted.inInboxOf(id).length > 0)
    )
  }
}
