// The tasks that have left the host's queue and are not answered, by ticket; and how much of the workers' capacity they take.
import { createLane, type LaneLayout } from '../../shared/lane/layout.js'
import { type Posting, SharedQueue } from '../../shared/lane/shared-queue.js'
import type { Tickets } from '../../shared/lane/ticket.js'
import type { Task } from '../task/task.js'

/** Tickets beyond one for each slot. They keep the workers busy while the host is busy, for about a second. */
const EXTRA_TICKETS = 1024
const MAX_SLOT_TICKETS = 8192
/** There is a ticket for each slot of this many workers at least, since `resize()` may raise `maxWorkers` later. */
const MIN_PLANNED_WORKERS = 64

/** How many tasks of a pool can be posted at once. Beyond, tasks wait in the host's queue. */
export function ticketsFor(maxWorkers: number, slotsPerWorker: number): number {
  const slots = Math.max(maxWorkers, MIN_PLANNED_WORKERS) * slotsPerWorker
  return EXTRA_TICKETS + Math.min(slots, MAX_SLOT_TICKETS)
}

export class PostedTasks {
  readonly queue: SharedQueue
  readonly tickets: Tickets
  /** Tasks that are expected to take longer than it takes to wake a worker. Kept for `WorkerWaker`. */
  readonly longRunning = new Set<Task>()
  /** Tasks whose payload or answer was perhaps in a message that could not be read, with their workers. Kept for `Collector`. */
  readonly suspects = new Map<Task, number>()
  readonly #tasks: (Task | null)[]
  readonly #slotsPerWorker: number
  /** By worker: tasks that it was sent by message. */
  readonly #sentTo = new Map<number, number>()
  /** Workers that were sent an exclusive task. */
  readonly #exclusive = new Set<number>()
  /** Tasks that are neither answered nor cancelled. */
  #live = 0
  /** Of these, the ones that any worker may claim. */
  #shared = 0
  /** Slots that the tasks take, with cancelled tasks whose handlers still run. An exclusive task takes a whole worker. */
  #weight = 0

  /** @param tickets how many tasks can be posted at once */
  constructor(tickets: number, slotsPerWorker: number) {
    this.queue = new SharedQueue(createLane(tickets))
    this.tickets = this.queue.tickets
    this.#slotsPerWorker = slotsPerWorker
    this.#tasks = new Array<Task | null>(this.layout.tickets).fill(null)
  }

  get layout(): LaneLayout {
    return this.queue.layout
  }

  /** Tasks that are neither answered nor cancelled. */
  get size(): number {
    return this.#live
  }

  get weight(): number {
    return this.#weight
  }

  /** Posted tasks for which no worker has a free slot yet. @param slots of all workers */
  waitingFor(slots: number): number {
    const beyond = this.#weight - slots
    return beyond <= 0 ? 0 : Math.min(beyond, this.#shared)
  }

  /** Offers the task to all workers. */
  post(task: Task, posting: Posting): void {
    task.addressee = 0
    task.ticket = this.queue.post(posting)
    this.#shared++
    this.#add(task)
  }

  /** Gives the task a ticket for one worker. Returns the number that the message to the worker must carry. */
  address(task: Task, workerId: number): number {
    task.addressee = workerId
    task.ticket = this.queue.nextTicket
    const offer = this.queue.address(task.id)
    this.#sentTo.set(workerId, this.sentTo(workerId) + 1)
    if (this.#weightOf(task) > 1) this.#exclusive.add(workerId)
    this.#add(task)
    return offer
  }

  #add(task: Task): void {
    this.#tasks[task.ticket] = task
    this.#live++
    this.#weight += this.#weightOf(task)
  }

  /** The task was answered, taken back or lost with its worker. */
  remove(task: Task): void {
    this.#uncount(task)
    this.#weight -= this.#weightOf(task)
    this.#release(task)
  }

  /** The task was cancelled after its worker answered it. It keeps its ticket until the answer arrives. */
  keepAnswered(task: Task): void {
    this.#uncount(task)
    this.#weight -= this.#weightOf(task)
  }

  /** The task was cancelled and its handler runs. It keeps its ticket and its slots until the handler ends. */
  keepCancelled(task: Task): void {
    this.#uncount(task)
  }

  /** A task that was kept is over. */
  removeKept(task: Task): void {
    const phase = this.tickets.phaseOf(task.ticket)
    if (phase === 'cancelling' || phase === 'ended') this.#weight -= this.#weightOf(task)
    this.#release(task)
  }

  #uncount(task: Task): void {
    this.#live--
    if (task.addressee === 0) this.#shared--
  }

  #release(task: Task): void {
    const { addressee, ticket } = task
    if (addressee > 0) {
      const left = this.sentTo(addressee) - 1
      if (left === 0) this.#sentTo.delete(addressee)
      else this.#sentTo.set(addressee, left)
      if (this.#weightOf(task) > 1) this.#exclusive.delete(addressee)
    }
    if (this.longRunning.size > 0) this.longRunning.delete(task)
    if (this.suspects.size > 0) this.suspects.delete(task)
    this.#tasks[ticket] = null
    this.queue.release(ticket)
  }

  /** How many tasks the worker was sent by message and has not answered. */
  sentTo(workerId: number): number {
    return this.#sentTo.get(workerId) ?? 0
  }

  /** True when the worker was sent a task that must run alone. */
  isExclusive(workerId: number): boolean {
    return this.#exclusive.has(workerId)
  }

  #weightOf(task: Task): number {
    return task.isExclusive ? this.#slotsPerWorker : 1
  }

  /** The slots that these tasks take. */
  weightOf(tasks: readonly Task[]): number {
    return tasks.reduce((total, task) => total + this.#weightOf(task), 0)
  }

  /** The task with the ticket; `null` when the ticket was given to another task. */
  at(ticket: number, taskId: number): Task | null {
    const task = this.#tasks[ticket] ?? null
    return task !== null && task.id === taskId ? task : null
  }

  /** The tasks that a worker has claimed or was sent, in the order in which they were accepted. */
  heldBy(workerId: number): Task[] {
    const isHeld = (task: Task) =>
      task.addressee === workerId || this.tickets.holderOf(task.ticket) === workerId
    return this.#select(isHeld).sort((one, other) => one.createdAt - other.createdAt || one.id - other.id)
  }

  /** The tasks that any worker may claim and none has, in the order of the queue. */
  unclaimed(): Task[] {
    return this.#select(task => this.tickets.phaseOf(task.ticket) === 'offered').sort((one, other) =>
      this.queue.compare(one.ticket, other.ticket),
    )
  }

  #select(isMeant: (task: Task) => boolean): Task[] {
    const chosen: Task[] = []
    for (const task of this.#tasks) if (task !== null && isMeant(task)) chosen.push(task)
    return chosen
  }
}
