// Takes tasks out before their answer: cancelled tasks, and the tasks that cannot finish because the pool closes.
import type { PoolClosedError, PoolError } from '../../shared/errors/pool-errors.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { LargeResults } from '../lane/large-results.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import type { Progress } from '../task/time-limits.js'
import type { TracedTasks } from '../task/traced-tasks.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { GracePeriods } from './grace-period.js'
import type { Pump } from './pump.js'

export interface CancellingParts {
  clock: Clock
  group: WorkerGroup
  settler: Settler
  traced: TracedTasks
  posted: PostedTasks
  recall: Recall
  largeResults: LargeResults
  gracePeriods: GracePeriods
  pump: Pump
  /** False for processes: a process may have started a sent task without the host knowing it yet. */
  canTakeBack: boolean
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
}

export class Cancelling {
  readonly #parts: CancellingParts

  constructor(parts: CancellingParts) {
    this.#parts = parts
  }

  progressOf(task: Task, now: number): Progress {
    if (task.state === 'decoding') return 'decoding'
    if (task.state === 'failed') return 'answered'
    if (task.state === 'queued') return 'unstarted'
    const { tickets } = this.#parts.posted
    switch (tickets.phaseOf(task.ticket)) {
      case 'loading':
      case 'started':
        return tickets.startedAt(task.ticket, now) ?? 'paused'
      case 'answered':
        return 'answered'
      case 'addressed':
        return this.#parts.canTakeBack ? 'unstarted' : { sentAt: task.assignedAt! }
      default:
        return 'unstarted'
    }
  }

  /** Rejects the caller at once. With `onlyUnstarted`, a task that a worker has started runs on. Ignores a settled task. */
  cancel(task: Task, error: PoolError, onlyUnstarted = false): void {
    // Another task may use the ticket of a settled task.
    if (task.state === 'settled') return
    const { clock, gracePeriods, group, largeResults, pump, recall, settler, traced, onLeft } = this.#parts
    if (task.state === 'decoding') {
      if (onlyUnstarted) return
      largeResults.drop(task)
      settler.cancel(task, error)
      return onLeft()
    }
    if (task.state === 'queued') {
      pump.remove(task)
      settler.cancel(task, error)
    } else if (task.state === 'failed') {
      if (onlyUnstarted) return
      settler.cancel(task, error)
    } else if (onlyUnstarted && pump.withdraw(task)) {
      settler.cancel(task, error)
    } else if (onlyUnstarted && typeof this.progressOf(task, clock.now()) !== 'object') {
      return
    } else {
      // A cancelled ticket no longer says when its task started.
      const progress = task.traced !== null ? this.progressOf(task, clock.now()) : 'unstarted'
      const workerId = recall.abandon(task)
      const worker = workerId === 0 ? null : group.withId(workerId)
      if (worker !== null && task.traced !== null) traced.onAbandoned(task, worker, progress)
      settler.cancel(task, error)
      if (worker !== null) gracePeriods.add(worker, task, error)
    }
    // This task may have been the last one of a leaving worker.
    group.stopLeavingIfDone()
    pump.refill()
  }

  /** Rejects the tasks without a slot. */
  cancelWaiting(createError: () => PoolError): void {
    const { pump, settler } = this.#parts
    for (const task of pump.takeWaiting()) settler.cancel(task, createError())
    pump.refill()
  }

  rejectDecoding(error: PoolClosedError): void {
    this.#parts.largeResults.cutOff(error)
  }

  rejectWaiting(error: PoolClosedError): void {
    const { pump, settler, onLeft } = this.#parts
    for (const task of pump.takePinned()) settler.cutOff(task, error)
    for (const task of pump.takeWaiting()) settler.cutOff(task, error)
    onLeft()
  }
}
