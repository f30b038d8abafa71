// Deals with tasks that come back from workers: puts them back at their old place in the queue, runs them again if their `retry`
// allows it, or rejects them.
import { PoolClosedError, WorkerExitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { OrphanedTask, Recall } from '../lane/recall.js'
import { AGAIN, type Retry } from '../task/retry.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Worker } from '../workers/worker.js'
import type { PendingTasks } from './pending-tasks.js'

/** A task is rejected after this many workers died before they started it. */
const MAX_RETURNS = 5

interface LostTask {
  task: Task
  reason: unknown
  /** `null`: the task does not run again. */
  retry: Retry | null
}

export class Requeue {
  /** Tasks whose `retry.when` is being called. */
  readonly failed = new Set<Task>()
  readonly #recall: Recall
  readonly #pending: PendingTasks
  readonly #settler: Settler
  /** How many workers died before they started the task. */
  readonly #deaths = new WeakMap<Task, number>()

  constructor(recall: Recall, pending: PendingTasks, settler: Settler) {
    this.#recall = recall
    this.#pending = pending
    this.#settler = settler
  }

  /**
   * The worker has ended or is about to end. Its started tasks fail with `error`. Its other tasks return to the queue.
   * @param isGone false: answers of the worker may be on their way, and their tasks wait for them
   * @returns true when some caller was told
   */
  orphansOf(worker: Worker, error: unknown, isGone: boolean): boolean {
    const returned: Task[] = []
    const lost: LostTask[] = []
    for (const orphan of this.#recall.orphansOf(worker, isGone)) {
      const { task, wasStarted } = orphan
      if (!wasStarted && task.canBePostedAgain && this.#mayReturn(task)) {
        moveTask(task, 'queued')
        returned.push(task)
        continue
      }
      moveTask(task, 'failed')
      this.failed.add(task)
      lost.push({ task, reason: reasonFor(orphan, worker, error), retry: wasStarted ? task.retry : null })
    }
    if (returned.length > 0) this.#putBack(returned)
    return lost.length > 0 && this.#settleLost(lost)
  }

  /** `retry.when` is user code, which may cancel any of the tasks. True when some caller was told. */
  #settleLost(lost: readonly LostTask[]): boolean {
    const again: Task[] = []
    for (const { task, reason, retry } of lost) {
      if (task.state !== 'failed') continue
      const verdict = retry === null || reason instanceof PoolClosedError ? reason : retry.afterDeath(reason)
      if (verdict === AGAIN) again.push(task)
      else if (task.state === 'failed') this.#reject(task, verdict)
    }
    const returned = again.filter(task => task.state === 'failed')
    for (const task of returned) requeueStarted(task)
    for (const { task } of lost) this.failed.delete(task)
    if (returned.length > 0) this.#putBack(returned)
    return returned.length < lost.length
  }

  #reject(task: Task, error: unknown): void {
    if (error instanceof PoolClosedError) this.#settler.cutOff(task, error)
    else this.#settler.reject(task, error)
  }

  /** The worker leaves: the tasks that it has not started return to the queue. */
  unstartedOf(worker: Worker): void {
    const returned = [...this.#recall.unstartedOf(worker)]
    for (const task of returned) moveTask(task, 'queued')
    if (returned.length > 0) this.#putBack(returned)
  }

  /** Tasks that were sent to a worker that is still starting return to the queue. */
  sentTo(worker: Worker): void {
    const returned = [...this.#recall.sentTo(worker)]
    for (const task of returned) moveTask(task, 'queued')
    if (returned.length > 0) this.#putBack(returned)
  }

  /** The handler failed, and the task's `retry` allows another run. */
  runAgain(task: Task): void {
    requeueStarted(task)
    this.#putBack([task])
  }

  #mayReturn(task: Task): boolean {
    const deaths = (this.#deaths.get(task) ?? 0) + 1
    this.#deaths.set(task, deaths)
    return deaths <= MAX_RETURNS
  }

  /** The tasks behind them in the shared queue return as well: they must not start earlier. */
  #putBack(returned: Task[]): void {
    for (const task of this.#recall.unclaimed()) {
      moveTask(task, 'queued')
      returned.push(task)
    }
    // From the last to the first: a user's queue may only be able to put a task back at its beginning.
    for (const task of returned.reverse()) this.#pending.putBack(task)
  }
}

/** A worker has started the task once, so `queueTimeout` no longer applies. */
function requeueStarted(task: Task): void {
  if (task.timeLimit !== null) task.timeLimit.wasStarted = true
  moveTask(task, 'queued')
}

function reasonFor({ task, wasStarted, wasLoading }: OrphanedTask, worker: Worker, error: unknown): unknown {
  if (error instanceof PoolClosedError) return error
  if (!wasStarted) {
    return new WorkerExitError(worker.id, error instanceof WorkerExitError ? error.exitCode : 1, error)
  }
  return wasLoading ? new WorkerStartError(worker.id, task, 'load', error) : error
}
