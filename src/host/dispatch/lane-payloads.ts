// Payloads that the lane cannot carry: each goes by the port of the worker that claims its ticket, or along with the ticket
// where it is clear who will.

import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import { refusalCause, refuseDetached, unsendablePath } from '../../shared/errors/uncloneable-path.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { LaneCollector } from './lane-collector.js'

export class LanePayloads {
  readonly #tasks: LaneTasks
  readonly #settler: Settler
  readonly #collector: LaneCollector

  constructor(tasks: LaneTasks, settler: Settler, collector: LaneCollector) {
    this.#tasks = tasks
    this.#settler = settler
    this.#collector = collector
  }

  /**
   * Sends the payload, then its ticket can be posted. False when it must not be: the payload cannot be sent, which its
   * caller was told, or a getter has cancelled the task or closed the pool.
   */
  sendAhead(worker: WorkerHandle, task: Task): boolean {
    const slot = this.#tasks.lane.nextTicket
    const wasSent = this.#send(worker, task, slot)
    if (task.state === 'queued') return true
    if (wasSent) this.drop(worker, slot, task.id)
    return false
  }

  /** The worker has claimed a ticket whose payload was not sent along. Returns the task when that cannot be sent. */
  onClaimed(worker: WorkerHandle, ticket: number, taskId: number): Task | null {
    const task = this.#tasks.at(ticket, taskId)
    if (task === null || isSettled(task)) return null
    if (!this.#tasks.tickets.isClaimedBy(ticket, worker.id)) return null
    if (!this.#send(worker, task, ticket)) return task
    // A getter has cancelled it, before the payload was on its way; its ticket may be another's by now.
    if (isSettled(task) || !this.#tasks.tickets.isClaimedBy(ticket, worker.id))
      this.drop(worker, ticket, taskId)
    return null
  }

  /** The worker need not keep the payload, or wait for it. */
  drop(worker: WorkerHandle, slot: number, taskId: number): void {
    worker.link?.post({ kind: 'drop', slot, taskId })
  }

  /** False when it cannot be sent; then the caller was told. */
  #send(worker: WorkerHandle, task: Task, ticket: number): boolean {
    const { id: taskId, handlerId, filename, name, payload, transferList } = task
    const handler = this.#collector.isAnnounced(handlerId) ? null : { filename, name }
    try {
      refuseDetached(transferList)
      worker.link!.post({ kind: 'run', taskId, slot: ticket, handlerId, handler, payload }, transferList)
      task.ordinal = ++worker.posted
      return true
    } catch (failure) {
      const path = unsendablePath(payload, transferList)
      const cause = refusalCause(failure, payload, transferList)
      if (!isSettled(task)) this.#settler.reject(task, new NotCloneableError(path, cause))
      return false
    }
  }
}

/** A getter may have cancelled it meanwhile. */
function isSettled(task: Task): boolean {
  return task.state === 'settled'
}
