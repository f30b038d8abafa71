// The ledger of slots: the only place that counts tasks against slots.
//
//   used     by a posted task, also by a cancelled task whose handler runs. An exclusive task uses all slots of its worker.
//   pinned   a task for one worker only. It is sent before its worker has a free slot, and uses one as soon as one is free.
//   lent     the slot of a task that waits for its caller. Another task may use it meanwhile.
//   waiting  no slot is free for the task: it is in the host's queue, or it was posted ahead.
//
// The numbers are exact only for a moment, because workers claim and answer tasks meanwhile. So a caller reads each number once.
import type { WorkerState } from '../../api/worker-view.js'
import type { Task } from '../task/task.js'
import { type Lender, LentSlots } from './lent-slots.js'

/** A worker, as far as the ledger counts it. */
export interface SlotWorker {
  readonly id: number
  readonly state: WorkerState
  readonly isReady: boolean
  readonly isLeaving: boolean
  /** How many tasks the worker has claimed and not answered. */
  readonly claimed: number
}

export interface SlotWorkers {
  /** The workers that are starting or ready. */
  readonly workers: readonly SlotWorker[]
  /** The workers that the host has stopped or killed, until they have ended. */
  readonly drainingWorkers: Iterable<SlotWorker>
  readonly acceptingWorkers: number
  /** `missing`: workers that do not exist and that the pool may not start now. */
  readonly starts: { readonly missing: number }
}

/** The host's queue. */
export interface QueuedTasks {
  readonly size: number
  /** The queued tasks that may not start now, even on a free slot. */
  readonly held: number
  /** The next task to start. It stays in the queue. */
  look(): Task | null
}

export class Slots {
  readonly perWorker: number
  readonly lent: LentSlots
  readonly #heldBy: (workerId: number) => Task[]
  #workers!: SlotWorkers
  #queue!: QueuedTasks
  #canTakeBack = true
  readonly #pinned = new Set<Task>()
  /** By worker: how many of its tasks the host sent by message. */
  readonly #sentTo = new Map<number, number>()
  /** Where workers have several slots: the exclusive tasks. */
  readonly #exclusive = new Set<Task>()
  /** Tasks that are posted and neither answered nor cancelled. */
  posted = 0
  /** The posted tasks that any worker may claim. */
  #claimable = 0
  #used = 0

  /** @param heldBy the posted tasks that a worker has */
  constructor(perWorker: number, heldBy: (workerId: number) => Task[]) {
    this.perWorker = perWorker
    this.lent = new LentSlots(perWorker)
    this.#heldBy = heldBy
  }

  /**
   * Set once, before the first worker is started.
   * @param canTakeBack false for processes: the host sends a task only to a ready worker
   */
  connect(workers: SlotWorkers, queue: QueuedTasks, canTakeBack: boolean): void {
    this.#workers = workers
    this.#queue = queue
    this.#canTakeBack = canTakeBack
  }

  // Entries. `PostedTasks` makes them.

  /** Any worker may claim the task. */
  offer(task: Task): void {
    this.#claimable++
    this.#add(task)
  }

  /** @param lender not `null`: the task uses the slot of this waiting task */
  send(task: Task, lender: Lender | null): void {
    const { addressee } = task
    this.#sentTo.set(addressee, this.sentTo(addressee) + 1)
    if (task.isExclusive && this.perWorker > 1) this.#exclusive.add(task)
    if (lender !== null) this.lent.borrow(task, lender)
    else if (task.isPinned) this.#pinned.add(task)
    this.#add(task)
  }

  #add(task: Task): void {
    this.posted++
    this.#used += this.#weightOf(task)
  }

  /** The task was answered or cancelled, or has left its worker. It keeps its slots. */
  end(task: Task): void {
    this.posted--
    if (task.addressee === 0) this.#claimable--
    if (this.lent.isAny) this.#reweigh(task, () => this.lent.end(task))
  }

  /** The task uses no slot any more. Its ticket may still be in use. */
  free(task: Task): void {
    this.#used -= this.#weightOf(task)
  }

  /** The ticket of the task is released. */
  release(task: Task): void {
    const { addressee } = task
    if (addressee > 0) {
      const left = this.sentTo(addressee) - 1
      if (left === 0) this.#sentTo.delete(addressee)
      else this.#sentTo.set(addressee, left)
      if (this.#exclusive.size > 0) this.#exclusive.delete(task)
      this.#pinned.delete(task)
    }
    if (this.lent.isAny) this.#releaseLent(task)
  }

  #releaseLent(task: Task): void {
    for (const borrower of this.lent.release(task)) {
      if (borrower.isPinned) this.#pinned.add(borrower)
      else this.#used += this.#weightOf(borrower)
    }
  }

  /** The task waits for a function of its caller. Where any task may use its slot, the worker counts it in the same way. */
  lend(task: Task, workerId: number): Lender {
    return this.#reweigh(task, () => this.lent.lend(task, workerId))
  }

  /** One call of the task was answered. Has no effect when the task was cancelled or has left its worker since. */
  takeBack(task: Task, lender: Lender): void {
    this.#reweigh(task, () => this.lent.takeBack(lender))
  }

  #reweigh<T>(task: Task, change: () => T): T {
    const before = this.#weightOf(task)
    const result = change()
    this.#used += this.#weightOf(task) - before
    return result
  }

  #weightOf(task: Task): number {
    if (this.lent.isAny && this.lent.usesNoSlot(task)) return 0
    if (task.isPinned) return 0
    return task.isExclusive ? this.perWorker : 1
  }

  // One worker.

  /** The slots of the worker, and one more for each waiting task whose slot any task may use. */
  sizeOf(worker: SlotWorker): number {
    return this.lent.isAny ? this.perWorker + this.lent.openOn(worker.id) : this.perWorker
  }

  /** How many slots of the worker are used. */
  usedBy(worker: SlotWorker): number {
    // A sent task counts until the host has its answer. Meanwhile the worker may claim the next task, hence the minimum.
    return Math.min(worker.claimed + this.sentTo(worker.id), this.sizeOf(worker))
  }

  /** How many tasks the host has sent to the worker by message and has no answer for. */
  sentTo(workerId: number): number {
    return this.#sentTo.get(workerId) ?? 0
  }

  /** True when the worker holds an exclusive task. */
  isExclusiveOn(workerId: number): boolean {
    for (const task of this.#exclusive) if (task.addressee === workerId) return true
    return false
  }

  /** The slots that pinned tasks of the worker use. Others of them wait until the worker has a free slot. */
  #pinnedUsedBy(worker: SlotWorker): number {
    let pinned = 0
    for (const task of this.#pinned) if (task.addressee === worker.id) pinned++
    if (pinned === 0 || this.isExclusiveOn(worker.id)) return 0
    const others = worker.claimed + this.sentTo(worker.id) - pinned
    return Math.min(pinned, Math.max(this.perWorker - others, 0))
  }

  // All workers.

  /** All slots of accepting workers, also of starting ones, and the slots that leaving or killed workers still use. */
  get total(): number {
    const { acceptingWorkers, drainingWorkers, workers } = this.#workers
    let slots = acceptingWorkers * this.perWorker
    if (acceptingWorkers < workers.length) {
      for (const worker of workers) {
        if (worker.isLeaving) slots += this.#weightOn(worker) + this.#pinnedUsedBy(worker)
      }
    }
    for (const worker of drainingWorkers) slots += this.#weightOn(worker)
    return slots
  }

  #weightOn(worker: SlotWorker): number {
    return this.#heldBy(worker.id).reduce((total, task) => total + this.#weightOf(task), 0)
  }

  get #pinnedUsed(): number {
    if (this.#pinned.size === 0) return 0
    return this.#workers.workers.reduce((total, worker) => total + this.#pinnedUsedBy(worker), 0)
  }

  /** The slots that posted tasks use or need. */
  get used(): number {
    return this.#used + this.#pinnedUsed
  }

  /** The free slots of ready workers. */
  get freeOnReady(): number {
    let free = 0
    for (const worker of this.#workers.workers) {
      if (!worker.isReady || worker.isLeaving || this.isExclusiveOn(worker.id)) continue
      free += this.sizeOf(worker) - this.usedBy(worker)
    }
    return free
  }

  /** The slots of workers that do not exist and that the pool may not start now. */
  get unavailable(): number {
    return this.#workers.starts.missing * this.perWorker
  }

  /**
   * How many queued tasks are sure to get a slot of a starting worker. Only tasks that the host cannot send before the
   * worker is ready wait for such a slot. The host sends other tasks to starting workers at once.
   */
  get ofStarting(): number {
    let slots = 0
    for (const worker of this.#workers.workers) {
      if (worker.state === 'spawning' && !worker.isLeaving) slots += this.perWorker
    }
    const sure = Math.min(slots, Math.max(this.total - this.used, 0))
    // Before the look: a queue without `unshift()` cannot take the task back.
    if (sure === 0) return 0
    if (this.#canTakeBack) {
      const next = this.#queue.look()
      if (next === null || next.canBePostedAgain) return 0
    }
    return sure
  }

  // Tasks.

  /** Posted tasks for which no worker has a free slot. Any worker may claim them. */
  get postedAhead(): number {
    const beyond = this.#used - (this.total - this.#pinnedUsed)
    return beyond <= 0 ? 0 : Math.min(beyond, this.#claimable)
  }

  /** Pinned tasks that wait for a slot of their worker. */
  get pinnedBehind(): number {
    const { size } = this.#pinned
    return size === 0 ? 0 : size - this.#pinnedUsed
  }

  /** Tasks without a slot, not even of a starting worker: the tasks that `maxQueue` counts. */
  get unplaced(): number {
    return this.startable + this.#queue.held
  }

  /** Tasks without a slot that another worker could start now. */
  get startable(): number {
    const { size, held } = this.#queue
    const queued = size === held ? 0 : Math.max(size - held - this.ofStarting, 0)
    return queued + this.postedAhead
  }

  /** Posted tasks that a worker has, or that have a free slot. */
  get inFlight(): number {
    return this.posted - this.postedAhead - this.pinnedBehind
  }

  /** Used slots, and the slots of starting workers that queued tasks are sure to get. */
  get occupied(): number {
    return Math.min(this.used, this.total) + this.#queue.size + this.postedAhead - this.unplaced
  }
}
