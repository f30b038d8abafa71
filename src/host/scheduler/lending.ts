// Gives the slot of a task that waits for its caller to the tasks that this caller submits meanwhile. See `lane/lent-slots`.

import type { Lender } from '../lane/lent-slots.js'
import type { ResultPoller } from '../lane/poll-results.js'
import type { Poster } from '../lane/post.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { hasRoomFor } from '../workers/placement.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PendingTasks } from './pending.js'

export interface LendingParts {
  group: WorkerGroup
  pending: PendingTasks
  posted: PostedTasks
  poster: Poster
  poller: ResultPoller | null
  recall: Recall
  /** Takes the payload of a queued task. False when the task was settled. */
  take: (task: Task) => boolean
  /** Removes an unstarted task from the queue or from its worker. False when a worker has started it. */
  withdraw: (task: Task) => boolean
}

export class Lending {
  readonly #parts: LendingParts
  readonly #group: WorkerGroup
  readonly #posted: PostedTasks

  constructor(parts: LendingParts) {
    this.#parts = parts
    this.#group = parts.group
    this.#posted = parts.posted
  }

  /**
   * A task that waits for a task of its own functions must not wait forever. So such a task without a slot gets the slot that the
   * waiting task lends. It overtakes the queue, which may wait for the same slot. If the task is held, the task that has its key gets the slot.
   */
  lend(): void {
    const { pending, poller, poster, take, withdraw } = this.#parts
    const { lent } = this.#posted.slots
    for (const lender of lent.waiting()) {
      for (const child of lent.candidates(lender)) {
        const task = pending.blockerOf(child) ?? child
        // A task that runs again may be held until its last run has ended.
        if (pending.blockerOf(task) !== null) continue
        const worker = this.#lendingWorker(lender)
        if (worker === null) break
        if (lender.isOpen ? !this.#mayJoin(worker, task) : this.#hasSlotElsewhere(task)) continue
        if (!this.#hasTicket()) return
        if (task.state === 'queued' && task.canBePostedAgain && !take(task)) continue
        if (!withdraw(task)) continue
        poster.send(worker, task, lender.isOpen ? null : lender)
        poller?.onPosted(task.createdAt)
      }
    }
  }

  /** The worker on which the waiting task can lend its slot to a task now; `null` when it cannot. */
  #lendingWorker({ workerId, isWaiting, isOpen, borrower }: Lender): Worker | null {
    const worker = this.#group.withId(workerId)
    if (worker === null || !worker.isReady || !isWaiting) return null
    if (isOpen) return hasRoomFor(worker, false) ? worker : null
    // A leaving worker does not end before its waiting task. So the next task does not wait for a cancelled handler that runs on.
    return borrower === null || (borrower.state === 'settled' && worker.isLeaving) ? worker : null
  }

  /** An exclusive task may run on a worker whose other tasks all wait for their callers. */
  #mayJoin(worker: Worker, task: Task): boolean {
    if (task.state !== 'queued' || !task.isExclusive) return task.state === 'queued'
    const { queue, slots, tickets } = this.#posted
    // A lender may have answered, and the host does not know it yet. So the count of used slots is not enough.
    const isOut = (held: Task) => slots.lent.lendsToAny(held) || tickets.phaseOf(held.ticket) === 'answered'
    return queue.unclaimed === 0 && this.#posted.heldBy(worker.id).every(isOut)
  }

  /** True when a worker has started the task, or starts it soon without a lent slot. */
  #hasSlotElsewhere(task: Task): boolean {
    if (task.state !== 'assigned') return task.state !== 'queued'
    const { queue, slots, tickets } = this.#posted
    const phase = tickets.phaseOf(task.ticket)
    if (phase === 'offered') {
      const inbox = this.#group.withId(queue.inboxOf(task.ticket))
      if (inbox === null) return queue.unclaimed <= slots.freeOnReady
      return inbox.isReady && this.#posted.inInboxOf(inbox.id).length <= inbox.slots - inbox.usage
    }
    if (phase !== 'addressed') return true
    return !task.isPinned && this.#group.withId(task.addressee)?.isReady === true
  }

  /** The lane queue may have all tickets while no worker can claim its tasks. Then the host takes back the last of them. */
  #hasTicket(): boolean {
    const { queue } = this.#posted
    for (const task of queue.hasTicket ? [] : this.#parts.recall.takeUnclaimed(1)) {
      moveTask(task, 'queued')
      this.#parts.pending.putBack(task)
    }
    return queue.hasTicket
  }

  /** True when a task that a function of the waiting task submits gets its slot at once. */
  mayBorrow(lender: Lender | null): boolean {
    return lender !== null && this.#lendingWorker(lender) !== null
  }
}
