// Tasks that leave the lane without an answer: those that were cancelled, that are called back, and whose workers are no more.
import type { Tickets } from '../../shared/lane/tickets.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Crew } from '../workers/crew.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { LaneLoad } from './lane-load.js'
import type { LanePayloads } from './lane-payloads.js'
import type { LeftTask } from './road.js'

export class LaneRetrieval {
  readonly #tasks: LaneTasks
  readonly #tickets: Tickets
  readonly #load: LaneLoad
  readonly #payloads: LanePayloads
  readonly #crew: Crew

  constructor(tasks: LaneTasks, load: LaneLoad, payloads: LanePayloads, crew: Crew) {
    this.#tasks = tasks
    this.#tickets = tasks.tickets
    this.#load = load
    this.#payloads = payloads
    this.#crew = crew
  }

  abandon(task: Task): WorkerHandle | null {
    if (this.takeBack(task)) {
      moveTask(task, 'queued')
      return null
    }
    const holder = this.#tickets.holderOf(task.slot)
    if (!this.#tickets.condemn(task.slot, holder)) {
      // Its answer is under way, and will find a task that is settled.
      this.#load.remove(task)
      return null
    }
    this.#load.condemn()
    return this.#crew.withId(holder)
  }

  takeBack(task: Task): boolean {
    for (;;) {
      const phase = this.#tickets.phaseOf(task.slot)
      if (phase !== 'offered' && phase !== 'claimed') return false
      if (phase === 'offered' ? this.#takeOffer(task) : this.#takeClaim(task)) return true
    }
  }

  /** What the worker has answered must have been taken in. */
  *leftBehind(worker: WorkerHandle, isSure: boolean): Generator<LeftTask> {
    for (const task of this.#tasks.assignedTo(worker.id)) {
      if (task.state === 'settled') {
        this.releaseSettled(task)
      } else if (this.takeBack(task)) {
        yield { task, wasBegun: false, wasLoading: false }
      } else {
        const phase = this.#tickets.phaseOf(task.slot)
        // An answer that is on its way arrives before the news of the end. None is given from now on: the handler may run on,
        // and a task that is to run again keeps its number, and mostly its ticket.
        if (!isSure && !this.#tickets.condemn(task.slot, worker.id)) continue
        this.#release(task)
        yield { task, wasBegun: true, wasLoading: phase === 'loading' }
      }
    }
  }

  *unbegun(worker: WorkerHandle): Generator<Task> {
    const assigned = this.#tasks.assignedTo(worker.id)
    // Nothing on offer is for this worker alone: it need claim no more. Dismiss first, search afterwards.
    if (!assigned.some(task => isGivenAway(task) && this.#tickets.phaseOf(task.slot) === 'offered')) {
      worker.holding.dismiss()
    }
    for (const task of this.#tasks.assignedTo(worker.id)) {
      if (task.state !== 'settled' && !isGivenAway(task) && this.takeBack(task)) yield task
    }
  }

  recall(most: number): Iterable<Task> {
    if (most === 0) return []
    const { lane } = this.#tasks
    const recalled: Task[] = []
    // The last first: a worker that claims meanwhile must not find a task whose older ones are gone.
    for (const task of this.#tasks.unclaimed().slice(-most).reverse()) {
      // What was given away with its ticket cannot come back; what a worker claims meanwhile does not.
      const isSent = lane.addresseeOf(task.slot) !== 0 && !task.canBePostedAgain
      if (!isSent && this.#takeOffer(task)) recalled.push(task)
    }
    return recalled.reverse()
  }

  /** Of a task that was cancelled; while its handler ran it kept its weight. */
  releaseSettled(task: Task): void {
    const phase = this.#tickets.phaseOf(task.slot)
    if (phase === 'condemned' || phase === 'ended') this.#load.removeCondemned(task)
    this.#tasks.release(task)
  }

  #takeOffer(task: Task): boolean {
    const { lane } = this.#tasks
    const addressee = lane.addresseeOf(task.slot)
    if (!lane.takeBack(task.slot)) return false
    this.#drop(task, addressee)
    return true
  }

  #takeClaim(task: Task): boolean {
    const holder = this.#tickets.holderOf(task.slot)
    if (!this.#tickets.takeBackFrom(task.slot, holder)) return false
    this.#drop(task, holder)
    return true
  }

  /** The task was taken back; a worker that has its payload, or waits for it, is told. */
  #drop(task: Task, workerId: number): void {
    if (this.#tasks.lane.isByPort(task.slot)) {
      const worker = this.#crew.withId(workerId)
      if (worker !== null) this.#payloads.drop(worker, task.slot, task.id)
    }
    this.#release(task)
  }

  #release(task: Task): void {
    this.#tasks.release(task)
    this.#load.remove(task)
  }
}

/** Its payload was moved to a worker, so that no other can have it. */
function isGivenAway(task: Task): boolean {
  return !task.canBePostedAgain && task.ordinal > 0
}
