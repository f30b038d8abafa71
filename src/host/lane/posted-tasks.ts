// The posted tasks by ticket: tasks that have left the host's queue and have no answer yet. Counts the slots they use.
import { createLane, type LaneLayout } from '../../shared/lane/layout.js'
import { type Posting, SharedQueue } from '../../shared/lane/shared-queue.js'
import type { Tickets } from '../../shared/lane/ticket.js'
import type { Task } from '../task/task.js'
import { type Lender, LentSlots } from './lent-slots.js'

/** Tickets beyond one for each slot. They give the workers tasks while the host is busy, for about a second. */
const EXTRA_TICKETS = 1024
const MAX_SLOT_TICKETS = 8192
/** Each slot of at least this many workers has a ticket, since `resize()` may raise `maxWorkers` later. */
const MIN_PLANNED_WORKERS = 64

/** How many tasks of a pool can be posted at the same time. Further tasks stay in the host's queue. */
export function ticketsFor(maxWorkers: number, slotsPerWorker: number): number {
  const slots = Math.max(maxWorkers, MIN_PLANNED_WORKERS) * slotsPerWorker
  return EXTRA_TICKETS + Math.min(slots, MAX_SLOT_TICKETS)
}

export class PostedTasks {
  readonly queue: SharedQueue
  readonly tickets: Tickets
  /** Tasks whose expected run time is longer than the time to wake a worker. `WorkerWaker` adds them. */
  readonly longRunning = new Set<Task>()
  /**
   * Tasks whose payload or answer may have been in an unreadable message, with their workers. `Collector` adds them.
   */
  readonly suspects = new Map<Task, number>()
  /** Tasks of broadcasts. They are sent before their worker has a free slot, so `weight` does not count them. */
  readonly pinned = new Set<Task>()
  readonly lent: LentSlots
  readonly #tasks: (Task | null)[]
  readonly #slotsPerWorker: number
  /** By worker: how many tasks the host sent by message. */
  readonly #sentTo = new Map<number, number>()
  /** Where workers have several slots: the exclusive tasks. */
  readonly #exclusive = new Set<Task>()
  /** Tasks that are neither answered nor cancelled. */
  #live = 0
  /** The live tasks that any worker may claim. */
  #shared = 0
  /** Slots in use, also by cancelled tasks whose handlers still run. An exclusive task uses all slots of a worker. */
  #weight = 0

  /** @param tickets how many tasks can be posted at the same time */
  constructor(tickets: number, slotsPerWorker: number) {
    this.queue = new SharedQueue(createLane(tickets))
    this.tickets = this.queue.tickets
    this.#slotsPerWorker = slotsPerWorker
    this.lent = new LentSlots(slotsPerWorker)
    this.#tasks = new Array<Task | null>(this.layout.tickets).fill(null)
  }

  get layout(): LaneLayout {
    return this.queue.layout
  }

  get size(): number {
    return this.#live
  }

  get weight(): number {
    return this.#weight
  }

  /**
   * How many posted tasks have no free slot yet.
   * @param slots the slots of all workers
   */
  waitingFor(slots: number): number {
    const beyond = this.#weight - slots
    return beyond <= 0 ? 0 : Math.min(beyond, this.#shared)
  }

  /** Offers the task to all workers. The caller checks that the queue has room. */
  post(task: Task, posting: Posting): void {
    task.addressee = 0
    task.ticket = this.queue.post(posting)
    this.#shared++
    this.#add(task)
  }

  /**
   * Gives the task a ticket for one worker. Returns the number that the message to the worker must carry.
   * @param lender not `null`: the task uses the slot of this waiting task
   */
  address(task: Task, workerId: number, lender: Lender | null): number {
    task.addressee = workerId
    task.ticket = this.queue.nextTicket
    const messageNumber = this.queue.address(task.id)
    this.#sentTo.set(workerId, this.sentTo(workerId) + 1)
    if (task.isExclusive && this.#slotsPerWorker > 1) this.#exclusive.add(task)
    if (lender !== null) this.lent.borrow(task, lender)
    else if (task.isPinned) this.pinned.add(task)
    this.#add(task)
    return messageNumber
  }

  #add(task: Task): void {
    this.#tasks[task.ticket] = task
    this.#live++
    this.#weight += this.#weightOf(task)
  }

  /** Call it when the task was answered, recalled or lost with its worker. */
  remove(task: Task): void {
    this.#uncount(task)
    this.#weight -= this.#weightOf(task)
    this.#release(task)
  }

  /** The task was cancelled after its worker answered it. The ticket stays in use until the answer arrives. */
  keepAnswered(task: Task): void {
    this.#uncount(task)
    this.#weight -= this.#weightOf(task)
    if (this.lent.isAny) this.lent.returnSlot(task)
  }

  /** The task was cancelled and its handler runs. The ticket and the slots stay in use until the handler ends. */
  keepCancelled(task: Task): void {
    this.#uncount(task)
  }

  /** Frees the ticket of a cancelled task: its answer has arrived or its handler has ended. */
  removeKept(task: Task): void {
    const phase = this.tickets.phaseOf(task.ticket)
    if (phase === 'cancelling' || phase === 'ended') this.#weight -= this.#weightOf(task)
    this.#release(task)
  }

  #uncount(task: Task): void {
    this.#live--
    if (task.addressee === 0) this.#shared--
    if (this.lent.isAny) this.#reweigh(task, () => this.lent.end(task))
  }

  #release(task: Task): void {
    const { addressee, ticket } = task
    if (addressee > 0) {
      const left = this.sentTo(addressee) - 1
      if (left === 0) this.#sentTo.delete(addressee)
      else this.#sentTo.set(addressee, left)
      if (this.#exclusive.size > 0) this.#exclusive.delete(task)
      this.pinned.delete(task)
    }
    if (this.longRunning.size > 0) this.longRunning.delete(task)
    if (this.suspects.size > 0) this.suspects.delete(task)
    if (this.lent.isAny) this.#releaseSlot(task)
    this.#tasks[ticket] = null
    this.queue.release(ticket)
  }

  #releaseSlot(task: Task): void {
    for (const borrower of this.lent.release(task)) {
      if (borrower.isPinned) this.pinned.add(borrower)
      else this.#weight += this.#weightOf(borrower)
    }
  }

  /** The task waits for a function of its caller. Where any task may use its slot, the worker counts it in the same way. */
  lend(task: Task, workerId: number): Lender {
    return this.#reweigh(task, () => this.lent.lend(task, workerId))
  }

  /** One call of the task was answered. Has no effect when the task was cancelled or has left its worker since. */
  takeBackSlot(task: Task, lender: Lender): void {
    this.#reweigh(task, () => this.lent.takeBack(lender))
  }

  #reweigh<T>(task: Task, change: () => T): T {
    const before = this.#weightOf(task)
    const result = change()
    this.#weight += this.#weightOf(task) - before
    return result
  }

  /** How many tasks the host has sent to the worker by message and has no answer for. */
  sentTo(workerId: number): number {
    return this.#sentTo.get(workerId) ?? 0
  }

  /** How many of these tasks belong to broadcasts. */
  pinnedTo(workerId: number): number {
    let count = 0
    for (const task of this.pinned) if (task.addressee === workerId) count++
    return count
  }

  /** True when the worker holds an exclusive task. */
  isExclusive(workerId: number): boolean {
    for (const task of this.#exclusive) if (task.addressee === workerId) return true
    return false
  }

  #weightOf(task: Task): number {
    if (this.lent.isAny && this.lent.usesNoSlot(task)) return 0
    if (task.isPinned) return 0
    return task.isExclusive ? this.#slotsPerWorker : 1
  }

  /** The slots that these tasks use. */
  weightOf(tasks: readonly Task[]): number {
    return tasks.reduce((total, task) => total + this.#weightOf(task), 0)
  }

  /** The task with the ticket; `null` when the ticket belongs to another task now. */
  at(ticket: number, taskId: number): Task | null {
    const task = this.#tasks[ticket] ?? null
    return task !== null && task.id === taskId ? task : null
  }

  /** The tasks that the worker has claimed or received, in the order of acceptance. */
  heldBy(workerId: number): Task[] {
    const isHeld = (task: Task) =>
      task.addressee === workerId || this.tickets.holderOf(task.ticket) === workerId
    return this.#select(isHeld).sort((one, other) => one.createdAt - other.createdAt || one.id - other.id)
  }

  /** The tasks in the shared queue that no worker has claimed, in the order of the queue. */
  unclaimed(): Task[] {
    return this.#select(task => this.tickets.phaseOf(task.ticket) === 'offered').sort((one, other) =>
      this.queue.compare(one.ticket, other.ticket),
    )
  }

  #select(isChosen: (task: Task) => boolean): Task[] {
    const chosen: Task[] = []
    for (const task of this.#tasks) if (task !== null && isChosen(task)) chosen.push(task)
    return chosen
  }
}
