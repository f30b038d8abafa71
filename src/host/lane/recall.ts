// Takes posted tasks back without an answer: cancelled tasks, recalled tasks, and orphaned tasks of workers that ended.
import type { Tickets } from '../../shared/lane/ticket.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Worker } from '../workers/worker.js'
import type { Payloads } from './payloads.js'
import type { PostedTasks } from './posted-tasks.js'

/** A task that its worker cannot finish because the worker has ended. */
export interface OrphanedTask {
  task: Task
  wasStarted: boolean
  wasLoading: boolean
}

export class Recall {
  readonly #posted: PostedTasks
  readonly #payloads: Payloads
  readonly #tickets: Tickets
  readonly #canTakeBack: boolean
  readonly #clock: Clock

  /** @param canTakeBack false for processes: a process may have started a sent task without the host knowing it yet */
  constructor(posted: PostedTasks, payloads: Payloads, canTakeBack: boolean, clock: Clock) {
    this.#posted = posted
    this.#payloads = payloads
    this.#tickets = posted.tickets
    this.#canTakeBack = canTakeBack
    this.#clock = clock
  }

  /** Returns true when the host took the task back: no worker has started it, and no worker can start it now. */
  takeBack(task: Task, isWorkerGone = false): boolean {
    // Before this move a worker can move the ticket twice. More moves mean that the ticket is damaged: it counts as started.
    for (let tries = 0; tries < 3; tries++) {
      const phase = this.#tickets.phaseOf(task.ticket)
      if (phase !== 'offered' && phase !== 'addressed' && phase !== 'claimed') return false
      if (phase === 'addressed' && !(this.#canTakeBack || isWorkerGone)) return false
      if (!this.#takeBackFrom(phase, task.ticket)) continue
      this.#remove(task)
      return true
    }
    return false
  }

  #remove(task: Task): void {
    this.#payloads.onTakenBack(task)
    this.#posted.remove(task)
    task.assignedAt = null
  }

  /** Call it for a started task without an answer, before its ticket forgets the time of the start. */
  #noteStart(task: Task): void {
    task.assignedAt = this.#tickets.startedAt(task.ticket, this.#clock.now()) ?? task.assignedAt
  }

  #takeBackFrom(phase: 'offered' | 'addressed' | 'claimed', ticket: number): boolean {
    if (phase === 'offered') return this.#posted.queue.takeBackOffered(ticket)
    if (phase === 'addressed') return this.#tickets.takeBackAddressed(ticket)
    return this.#tickets.takeBackClaimed(ticket, this.#tickets.holderOf(ticket))
  }

  /**
   * Gives up a cancelled task. If a handler runs, returns the id of its worker. The task then keeps its slots until the
   * worker reports that the handler has ended. Returns 0 when no handler runs.
   */
  abandon(task: Task): number {
    if (this.takeBack(task)) {
      moveTask(task, 'queued')
      return 0
    }
    const workerId = this.#tickets.holderOf(task.ticket) || task.addressee
    this.#noteStart(task)
    if (this.#tickets.cancel(task.ticket, workerId) || this.#cancelSent(task, workerId)) {
      this.#posted.keepCancelled(task)
      return workerId
    }
    // The worker has answered, and the host has not collected the answer yet.
    this.#posted.keepAnswered(task)
    return 0
  }

  #cancelSent(task: Task, workerId: number): boolean {
    return !this.#canTakeBack && this.#tickets.cancelAddressed(task.ticket, workerId)
  }

  /** True for a cancelled task whose handler has not ended. */
  isStillRunning(task: Task): boolean {
    return (
      this.#posted.at(task.ticket, task.id) === task && this.#tickets.phaseOf(task.ticket) === 'cancelling'
    )
  }

  /** True for a cancelled task that a worker process has not started because it runs other tasks. */
  isBehindOthers(worker: Worker, task: Task, now: number): boolean {
    if (this.#canTakeBack || this.#tickets.startedAt(task.ticket, now) !== null) return false
    return this.hasOthers(worker)
  }

  /**
   * True when the worker has tasks that were not cancelled. A pinned task that it has not started does not count: it may
   * wait for the slot of a cancelled task.
   */
  hasOthers(worker: Worker): boolean {
    const isUnstarted = (task: Task) => task.isPinned && this.#tickets.phaseOf(task.ticket) === 'addressed'
    return this.#posted.heldBy(worker.id).some(task => task.state !== 'settled' && !isUnstarted(task))
  }

  /**
   * For a worker that has ended or is about to end: frees its tasks and returns their progress. The caller must collect
   * the worker's answers before.
   * @param isGone false: the worker may still run and answer
   */
  *takeOrphans(worker: Worker, isGone: boolean): Generator<OrphanedTask> {
    for (const task of this.#posted.heldBy(worker.id)) {
      if (task.state === 'settled') {
        if (!isGone) this.#posted.ends.onKilled(task, worker.id)
        this.#posted.removeKept(task)
      } else if (this.takeBack(task, isGone)) {
        yield { task, wasStarted: false, wasLoading: false }
      } else {
        // The answers of a pack's items may be on their way. Items without an answer run again, so the host waits for all answers.
        if (!isGone && task.terms.handler.call === 'pack') continue
        const wasLoading = this.#tickets.phaseOf(task.ticket) === 'loading'
        this.#noteStart(task)
        // If the worker has answered, its answer arrives before its exit event. If not, it cannot answer from here on:
        // its handler may run on, and the task may run again with the same ticket.
        if (!isGone && !this.#tickets.cancel(task.ticket, worker.id)) continue
        if (!isGone) this.#posted.ends.onKilled(task, worker.id)
        this.#posted.remove(task)
        yield { task, wasStarted: true, wasLoading }
      }
    }
    if (isGone) this.#posted.ends.onGone(worker.id)
  }

  /** For a leaving worker: takes back its unstarted tasks, except tasks that no other worker can run. */
  *takeUnstarted(worker: Worker): Generator<Task> {
    // First dismiss the worker, then search: the worker claims a task first and checks then whether it is dismissed.
    worker.tasks.dismiss()
    for (const task of this.#posted.heldBy(worker.id)) {
      const mustStay = task.addressee > 0 && !task.canBePostedAgain
      if (task.state !== 'settled' && !mustStay && this.takeBack(task)) yield task
    }
  }

  /** Takes back the unstarted tasks that the host sent to the worker by message and that another worker can run. */
  *takeSent(worker: Worker): Generator<Task> {
    for (const task of this.#posted.heldBy(worker.id)) {
      if (task.state !== 'settled' && task.canBePostedAgain && this.takeBack(task)) yield task
    }
  }

  /** Takes back the unclaimed tasks in the inbox of the worker. */
  *takeFromInbox(worker: Worker): Generator<Task> {
    for (const task of this.#posted.inInboxOf(worker.id)) {
      if (!this.#posted.queue.takeBackOffered(task.ticket)) continue
      this.#remove(task)
      yield task
    }
  }

  /** Takes back the last `count` unclaimed tasks of the lane queue and of inboxes, and returns them in order. */
  takeUnclaimed(count = Number.POSITIVE_INFINITY): Task[] {
    if (count === 0) return []
    const recalled: Task[] = []
    // From the last to the first: a worker that claims meanwhile must not overtake a recalled task.
    for (const task of this.#posted.unclaimed().slice(-count).reverse()) {
      if (!this.#posted.queue.takeBackOffered(task.ticket)) continue
      this.#remove(task)
      recalled.push(task)
    }
    return recalled.reverse()
  }
}
