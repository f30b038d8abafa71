// The tasks that are in the lane, by their tickets.
import { createLane, type LaneLayout } from '../../shared/lane/layout.js'
import { type Posting, TaskLane } from '../../shared/lane/task-lane.js'
import type { Tickets } from '../../shared/lane/tickets.js'
import type { KnownHandler } from '../../shared/messages/messages.js'
import type { Task } from '../task/task.js'

/** Beyond the tasks that all workers may hold: enough to keep a worker busy while the host is, for a second or so. */
const AHEAD = 1024
const MOST_HELD = 8192

export class LaneTasks {
  readonly lane: TaskLane
  /** Handlers that a task may name by number alone: every worker knows them. */
  readonly handlers: KnownHandler[] = []
  readonly #tasks: (Task | null)[]

  /**
   * @param slots how many tasks all workers may hold
   * @param ahead how many more may wait in the lane
   */
  constructor(slots: number, ahead = AHEAD) {
    this.lane = new TaskLane(createLane(ahead + Math.min(slots, MOST_HELD)))
    this.#tasks = new Array<Task | null>(this.layout.tickets).fill(null)
  }

  get layout(): LaneLayout {
    return this.lane.layout
  }

  get tickets(): Tickets {
    return this.lane.tickets
  }

  /** Posts the task; there must be room. */
  post(task: Task, posting: Posting): void {
    task.slot = this.lane.post(posting)
    this.#tasks[task.slot] = task
  }

  release(task: Task): void {
    this.#tasks[task.slot] = null
    this.lane.release(task.slot)
  }

  /** The task with the ticket, unless it was given to another meanwhile. */
  at(ticket: number, taskId: number): Task | null {
    const task = this.#tasks[ticket] ?? null
    return task !== null && task.id === taskId ? task : null
  }

  /** The tasks that a worker has claimed, in the order in which they were posted. */
  heldBy(workerId: number): Task[] {
    return this.#select(ticket => this.tickets.holderOf(ticket) === workerId)
  }

  /** The same, and those that only this worker may claim. */
  assignedTo(workerId: number): Task[] {
    return this.#select(
      ticket => this.tickets.holderOf(ticket) === workerId || this.lane.addresseeOf(ticket) === workerId,
    )
  }

  /**
   * The tasks that are on offer for this worker alone, or that it has and whose handlers have not ended. Each ticket is looked at once:
   * one that is claimed meanwhile is counted one way or the other.
   */
  meantFor(workerId: number): Task[] {
    const { tickets } = this
    return this.#select(ticket => {
      const phase = tickets.phaseOf(ticket)
      if (phase === 'offered') return this.lane.addresseeOf(ticket) === workerId
      return phase !== 'answered' && phase !== 'ended' && tickets.holderOf(ticket) === workerId
    })
  }

  /** The tasks that no worker has claimed, in the order in which they were posted. */
  unclaimed(): Task[] {
    return this.#select(ticket => this.tickets.phaseOf(ticket) === 'offered')
  }

  /** The first of them. */
  firstUnclaimed(most: number): Task[] {
    return this.lane.firstOnOffer(most).map(ticket => this.#tasks[ticket]!)
  }

  /** The tasks that workers have, in no order. */
  claimed(): Task[] {
    const claimed: Task[] = []
    for (const task of this.#tasks)
      if (task !== null && this.tickets.holderOf(task.slot) !== 0) claimed.push(task)
    return claimed
  }

  #select(isMeant: (ticket: number) => boolean): Task[] {
    const chosen: Task[] = []
    const tasks = this.#tasks
    for (let ticket = 0; ticket < tasks.length; ticket++) {
      const task = tasks[ticket]!
      if (task !== null && isMeant(ticket)) chosen.push(task)
    }
    return chosen.sort((one, other) => this.lane.order(one.slot, other.slot))
  }
}
