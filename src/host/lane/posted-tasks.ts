// The posted tasks by ticket: tasks that have left the host's queue and have no answer yet.

import type { InboxWriter } from '../../shared/lane/inbox.js'
import { LaneQueue, type PostedLimits, type Posting } from '../../shared/lane/lane-queue.js'
import { createLane, type LaneLayout } from '../../shared/lane/layout.js'
import type { Tickets } from '../../shared/lane/ticket.js'
import type { Task } from '../task/task.js'
import type { TaskEnds } from '../task/task-ends.js'
import type { Lender } from './lent-slots.js'
import { Slots } from './slots.js'

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
  readonly queue: LaneQueue
  readonly tickets: Tickets
  /** Tasks whose expected run time is longer than the time to wake a worker. `WorkerWaker` adds them. */
  readonly longRunning = new Set<Task>()
  /**
   * Tasks whose payload or answer may have been in an unreadable message, with their workers. `Collector` adds them.
   */
  readonly suspects = new Map<Task, number>()
  readonly slots: Slots
  readonly ends: TaskEnds
  readonly #tasks: (Task | null)[]

  /** @param tickets how many tasks can be posted at the same time */
  constructor(tickets: number, slotsPerWorker: number, ends: TaskEnds) {
    this.ends = ends
    this.queue = new LaneQueue(createLane(tickets))
    this.tickets = this.queue.tickets
    this.slots = new Slots(slotsPerWorker, workerId => this.heldBy(workerId))
    this.#tasks = new Array<Task | null>(this.layout.tickets).fill(null)
  }

  get layout(): LaneLayout {
    return this.queue.layout
  }

  /**
   * Offers the task to all workers. The caller checks that the queue has room.
   * @param inbox not `null`: offers the task to the worker of this inbox, which must have room
   */
  post(
    task: Task,
    posting: Posting,
    limits: PostedLimits | null,
    carrierTo: number,
    inbox: InboxWriter | null = null,
  ): void {
    task.addressee = 0
    task.ticket = this.queue.post(posting, limits, carrierTo, inbox)
    this.#tasks[task.ticket] = task
    this.slots.offer(task)
  }

  /**
   * Gives the task a ticket for one worker. Returns the number that the message to the worker must carry.
   * @param lender not `null`: the task uses the slot of this waiting task
   */
  address(task: Task, workerId: number, lender: Lender | null): number {
    task.addressee = workerId
    task.ticket = this.queue.nextTicket
    const messageNumber = this.queue.address(task.id)
    this.#tasks[task.ticket] = task
    this.slots.send(task, lender)
    return messageNumber
  }

  /** Call it when the task was answered, recalled or lost with its worker. */
  remove(task: Task): void {
    this.slots.end(task)
    this.slots.free(task)
    this.#release(task)
  }

  /** The task was cancelled after its worker answered it. The ticket stays in use until the answer arrives. */
  keepAnswered(task: Task): void {
    this.slots.end(task)
    this.slots.free(task)
    if (this.slots.lent.isAny) this.slots.lent.returnSlot(task)
  }

  /** The task was cancelled and its handler runs. The ticket and the slots stay in use until the handler ends. */
  keepCancelled(task: Task): void {
    this.slots.end(task)
  }

  /** Frees the ticket of a cancelled task: its answer has arrived or its handler has ended. */
  removeKept(task: Task): void {
    const phase = this.tickets.phaseOf(task.ticket)
    if (phase === 'cancelling' || phase === 'ended') this.slots.free(task)
    this.#release(task)
  }

  #release(task: Task): void {
    if (this.longRunning.size > 0) this.longRunning.delete(task)
    if (this.suspects.size > 0) this.suspects.delete(task)
    this.slots.release(task)
    this.#tasks[task.ticket] = null
    this.queue.release(task.ticket)
    if (this.ends.listener !== null) this.ends.onReleased(task)
  }

  /** The task with the ticket; `null` when the ticket belongs to another task now. */
  at(ticket: number, taskId: number): Task | null {
    const task = this.#tasks[ticket] ?? null
    return task !== null && task.id === taskId ? task : null
  }

  /** True while the task has a ticket: a worker has it or may get it. */
  has(task: Task): boolean {
    return this.#tasks[task.ticket] === task
  }

  /** The tasks that the worker has claimed or received, in the order of acceptance. */
  heldBy(workerId: number): Task[] {
    const isHeld = (task: Task) =>
      task.addressee === workerId || this.tickets.holderOf(task.ticket) === workerId
    return this.#select(isHeld).sort((one, other) => one.createdAt - other.createdAt || one.id - other.id)
  }

  /** The tasks in the lane queue and in inboxes that no worker has claimed, in the order of the queue. */
  unclaimed(): Task[] {
    return this.#select(task => this.tickets.phaseOf(task.ticket) === 'offered').sort(
      (one, other) => this.queue.compare(one.ticket, other.ticket) || one.createdAt - other.createdAt,
    )
  }

  /** The unclaimed tasks in the inbox of a worker, in order. */
  inInboxOf(workerId: number): Task[] {
    if (this.queue.inInboxes === 0) return []
    const isInInbox = ({ ticket }: Task) =>
      this.queue.inboxOf(ticket) === workerId && this.tickets.phaseOf(ticket) === 'offered'
    return this.#select(isInInbox).sort((one, other) => one.createdAt - other.createdAt || one.id - other.id)
  }

  /** The tasks that no worker has claimed. */
  unstarted(): Task[] {
    return this.#select(task => {
      const phase = this.tickets.phaseOf(task.ticket)
      return phase === 'offered' || phase === 'addressed'
    })
  }

  /** How many tasks the worker has claimed or started and not ended. */
  startedBy(workerId: number): number {
    return this.#select(
      task =>
        this.tickets.holderOf(task.ticket) === workerId && this.tickets.phaseOf(task.ticket) !== 'answered',
    ).length
  }

  #select(isChosen: (task: Task) => boolean): Task[] {
    const chosen: Task[] = []
    for (const task of this.#tasks) if (task !== null && isChosen(task)) chosen.push(task)
    return chosen
  }
}
