// Decides what happens to tasks that come back from workers. Unstarted tasks return to their old place in the queue.
// Started tasks run again if their `retry` allows it. The others are rejected.
import {
  PoolClosedError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import type { OrphanedTask, Recall } from '../lane/recall.js'
import { NEVER_STARTED } from '../task/rejection.js'
import { AGAIN, type Retry } from '../task/retry.js'
import type { Settler } from '../task/settle.js'
import { isLarge, payloadBytes } from '../task/taken-payload.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { TracedTasks } from '../task/traced-tasks.js'
import type { Worker } from '../workers/worker.js'
import type { PendingTasks } from './pending.js'

/** How many workers may die before they start a task. The next death rejects the task. */
const MAX_RETURNS = 5

interface LostTask {
  task: Task
  reason: unknown
  /** `null`: the task does not run again. */
  retry: Retry | null
}

export class Requeue {
  /** Tasks for which the host calls `retry.when` now. */
  readonly failed = new Set<Task>()
  readonly #recall: Recall
  readonly #pending: PendingTasks
  readonly #settler: Settler
  readonly #traced: TracedTasks
  /** How many workers died before they started the task. */
  readonly #deaths = new WeakMap<Task, number>()

  constructor(recall: Recall, pending: PendingTasks, settler: Settler, traced: TracedTasks) {
    this.#recall = recall
    this.#pending = pending
    this.#settler = settler
    this.#traced = traced
  }

  /**
   * The worker has ended or is about to end. Its started tasks fail with `error`. Its other tasks return to the queue,
   * except pinned tasks, which have no result then.
   * @param isGone false: answered tasks keep waiting for their answers, which may be on their way
   * @returns true when a task was rejected
   */
  orphansOf(worker: Worker, error: unknown, isGone: boolean): boolean {
    const returned: Task[] = []
    const unstarted: Task[] = []
    const lost: LostTask[] = []
    for (const task of this.#recall.takeFromInbox(worker)) {
      moveTask(task, 'queued')
      returned.push(task)
    }
    const orphans = [...this.#recall.takeOrphans(worker, isGone)]
    const unread = unreadAtDeath(orphans, error)
    for (const orphan of orphans) {
      const { task, wasStarted } = orphan
      if (task === unread?.task) {
        moveTask(task, 'failed')
        this.failed.add(task)
        const { heapLimitMb: limitMb } = worker
        const reason = new WorkerMemoryError(worker.id, unread.cause, {
          bytes: payloadBytes(task.content),
          limitMb,
        })
        lost.push({ task, reason, retry: null })
        continue
      }
      if (!wasStarted && task.canBePostedAgain && this.#mayReturn(task)) {
        moveTask(task, 'queued')
        returned.push(task)
        continue
      }
      if (!wasStarted && task.isPinned && !(error instanceof PoolClosedError)) {
        moveTask(task, 'queued')
        unstarted.push(task)
        continue
      }
      moveTask(task, 'failed')
      this.failed.add(task)
      if (wasStarted) this.#traced.onLost(task, worker)
      lost.push({ task, reason: reasonFor(orphan, worker, error), retry: wasStarted ? task.retry : null })
    }
    if (returned.length > 0) this.#putBack(returned)
    for (const task of unstarted) if (task.state === 'queued') this.#settler.cancel(task, NEVER_STARTED)
    return lost.length > 0 && this.#settleLost(lost)
  }

  /** `retry.when` is user code, which may cancel any of the tasks. Returns true when a task was rejected. */
  #settleLost(lost: readonly LostTask[]): boolean {
    const again: Task[] = []
    for (const { task, reason, retry } of lost) {
      if (task.state !== 'failed') continue
      const verdict = retry === null || reason instanceof PoolClosedError ? reason : retry.afterDeath(reason)
      if (verdict === AGAIN) again.push(task)
      else if (task.state === 'failed') this.#reject(task, verdict)
    }
    const returned = again.filter(task => task.state === 'failed')
    for (const task of returned) this.#requeueStarted(task)
    for (const { task } of lost) this.failed.delete(task)
    if (returned.length > 0) this.#putBack(returned)
    return returned.length < lost.length
  }

  #reject(task: Task, error: unknown): void {
    if (error instanceof PoolClosedError) this.#settler.cutOff(task, error)
    else this.#settler.reject(task, error)
  }

  /** Call it when the worker leaves. Its unstarted tasks return to the queue. */
  unstartedOf(worker: Worker): void {
    const returned = [...this.#recall.takeUnstarted(worker), ...this.#recall.takeFromInbox(worker)]
    for (const task of returned) moveTask(task, 'queued')
    if (returned.length > 0) this.#putBack(returned)
  }

  /** For a starting worker: the tasks that the host sent to it return to the queue. */
  sentTo(worker: Worker): void {
    const returned = [...this.#recall.takeSent(worker)]
    for (const task of returned) moveTask(task, 'queued')
    if (returned.length > 0) this.#putBack(returned)
  }

  /** The tasks that no worker has claimed return to the queue. */
  unclaimed(): void {
    this.#putBack([])
  }

  /** Call it when the handler failed and `retry` allows another run. */
  runAgain(task: Task): void {
    this.#requeueStarted(task)
    this.#putBack([task])
  }

  /** A worker has started the task before, so `queueTimeout` no longer applies. */
  #requeueStarted(task: Task): void {
    if (task.timeLimit !== null) task.timeLimit.wasStarted = true
    this.#traced.onAgain(task)
    moveTask(task, 'queued')
  }

  #mayReturn(task: Task): boolean {
    const deaths = (this.#deaths.get(task) ?? 0) + 1
    this.#deaths.set(task, deaths)
    return deaths <= MAX_RETURNS
  }

  /** Unclaimed tasks of the lane queue return as well. Otherwise they would start before the returned tasks. */
  #putBack(returned: Task[]): void {
    for (const task of this.#recall.takeUnclaimed()) {
      moveTask(task, 'queued')
      returned.push(task)
    }
    // From the last to the first: the `unshift()` of a user's queue may only insert at the beginning.
    for (const task of returned.reverse()) this.#pending.putBack(task)
  }
}

/**
 * The task whose payload took all the heap of a worker that ran no task. A small payload may contain a large shared value. `null`: the
 * worker died for another reason.
 */
function unreadAtDeath(
  orphans: readonly OrphanedTask[],
  error: unknown,
): { task: Task; cause: unknown } | null {
  const isStart = error instanceof WorkerStartError
  const death = isStart ? error.cause : error
  if (!(death instanceof WorkerMemoryError) || orphans.some(({ wasStarted }) => wasStarted)) return null
  const large = orphans.find(({ task }) => isLarge(task.content))
  const orphan = large ?? (isStart ? undefined : orphans[0])
  return orphan === undefined ? null : { task: orphan.task, cause: death.cause }
}

function reasonFor({ task, wasStarted, wasLoading }: OrphanedTask, worker: Worker, error: unknown): unknown {
  if (error instanceof PoolClosedError) return error
  if (!wasStarted) {
    return new WorkerExitError(worker.id, error instanceof WorkerExitError ? error.exitCode : 1, error)
  }
  return wasLoading ? new WorkerStartError(worker.id, task, 'load', error) : error
}
