// Tasks that leave shared memory without an answer: cancelled tasks, tasks that the host takes back, and tasks whose worker ends.
import type { Tickets } from '../../shared/lane/ticket.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Worker } from '../workers/worker.js'
import type { PostedTasks } from './posted-tasks.js'

/** A task that a worker leaves behind when it ends. */
export interface OrphanedTask {
  task: Task
  wasStarted: boolean
  wasLoading: boolean
}

export class Recall {
  readonly #posted: PostedTasks
  readonly #tickets: Tickets
  readonly #canTakeBack: boolean

  /** @param canTakeBack false for processes: a sent task may have started although the host has not heard of it */
  constructor(posted: PostedTasks, canTakeBack: boolean) {
    this.#posted = posted
    this.#tickets = posted.tickets
    this.#canTakeBack = canTakeBack
  }

  /** True when no worker has started the task and none will. */
  takeBack(task: Task, isWorkerGone = false): boolean {
    for (;;) {
      const phase = this.#tickets.phaseOf(task.ticket)
      if (phase !== 'offered' && phase !== 'addressed' && phase !== 'claimed') return false
      if (phase === 'addressed' && !(this.#canTakeBack || isWorkerGone)) return false
      if (!this.#takeBackFrom(phase, task.ticket)) continue
      this.#posted.remove(task)
      return true
    }
  }

  #takeBackFrom(phase: 'offered' | 'addressed' | 'claimed', ticket: number): boolean {
    if (phase === 'offered') return this.#posted.queue.takeBackOffered(ticket)
    if (phase === 'addressed') return this.#tickets.takeBackAddressed(ticket)
    return this.#tickets.takeBackClaimed(ticket, this.#tickets.holderOf(ticket))
  }

  /**
   * Gives up a posted task. Returns the id of the worker whose handler still runs for it: the task keeps its slots until that
   * worker reports that the handler has ended. Returns 0 when no handler runs.
   */
  abandon(task: Task): number {
    if (this.takeBack(task)) {
      moveTask(task, 'queued')
      return 0
    }
    const workerId = this.#tickets.holderOf(task.ticket) || task.addressee
    if (this.#tickets.cancel(task.ticket, workerId) || this.#cancelSent(task, workerId)) {
      this.#posted.keepCancelled(task)
      return workerId
    }
    // The answer is on its way.
    this.#posted.keepAnswered(task)
    return 0
  }

  #cancelSent(task: Task, workerId: number): boolean {
    return !this.#canTakeBack && this.#tickets.cancelAddressed(task.ticket, workerId)
  }

  /** A cancelled task whose handler has not ended. */
  isStillRunning(task: Task): boolean {
    return (
      this.#posted.at(task.ticket, task.id) === task && this.#tickets.phaseOf(task.ticket) === 'cancelling'
    )
  }

  /** A cancelled task that its worker, a process, has not started because it runs others. */
  isBehindOthers(worker: Worker, task: Task, now: number): boolean {
    if (this.#canTakeBack || this.#tickets.startedAt(task.ticket, now) !== null) return false
    return this.hasOthers(worker)
  }

  /** The worker has tasks that were not cancelled. */
  hasOthers(worker: Worker): boolean {
    return this.#posted.heldBy(worker.id).some(task => task.state !== 'settled')
  }

  /**
   * For a worker that has ended or is about to end: frees its tasks and says how far each one got. The host must have
   * collected its answers before.
   * @param isGone false: the worker may still run, so its answers may be on their way
   */
  *orphansOf(worker: Worker, isGone: boolean): Generator<OrphanedTask> {
    for (const task of this.#posted.heldBy(worker.id)) {
      if (task.state === 'settled') {
        this.#posted.removeKept(task)
      } else if (this.takeBack(task, isGone)) {
        yield { task, wasStarted: false, wasLoading: false }
      } else {
        const wasLoading = this.#tickets.phaseOf(task.ticket) === 'loading'
        // An answer on its way arrives before the news of the worker's end. From here on the worker cannot answer: its handler
        // may run on, and the task may run again with the same ticket.
        if (!isGone && !this.#tickets.cancel(task.ticket, worker.id)) continue
        this.#posted.remove(task)
        yield { task, wasStarted: true, wasLoading }
      }
    }
  }

  /** For a worker that leaves: takes back the tasks that it has not started. It keeps those whose payload was moved to it. */
  *unstartedOf(worker: Worker): Generator<Task> {
    // First dismiss, then search: the worker claims first and looks afterwards whether it is dismissed.
    worker.tasks.dismiss()
    for (const task of this.#posted.heldBy(worker.id)) {
      const isMoved = task.addressee > 0 && !task.canBePostedAgain
      if (task.state !== 'settled' && !isMoved && this.takeBack(task)) yield task
    }
  }

  /** Takes back the tasks that were sent to the worker by message and that it has not started. */
  *sentTo(worker: Worker): Generator<Task> {
    for (const task of this.#posted.heldBy(worker.id)) {
      if (task.state !== 'settled' && this.takeBack(task)) yield task
    }
  }

  /** Takes back, in order, the last `count` of the tasks in the queue that no worker has claimed. */
  unclaimed(count = Number.POSITIVE_INFINITY): Task[] {
    if (count === 0) return []
    const recalled: Task[] = []
    // From the last to the first: a worker that claims meanwhile must not find a task before which others are missing.
    for (const task of this.#posted.unclaimed().slice(-count).reverse()) {
      if (!this.#posted.queue.takeBackOffered(task.ticket)) continue
      this.#posted.remove(task)
      recalled.push(task)
    }
    return recalled.reverse()
  }
}
