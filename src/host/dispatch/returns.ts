// Tasks that come back from workers: they are put to where they stood, run again where their `retry` says so, or are rejected.
import { PoolClosedError, WorkerExitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { AGAIN, type Retry } from '../task/retry.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { LeftTask, Road } from './road.js'
import type { WaitingLine } from './waiting-line.js'

/** A task whose workers die before they begin it is given up after so many. */
const MOST_RETURNS = 5

interface LostTask {
  task: Task
  reason: unknown
  /** `null`: it is not to run again. */
  retry: Retry | null
}

export class Returns {
  readonly #road: Road
  readonly #line: WaitingLine
  readonly #settler: Settler
  /** Tasks that the user's code is asked about. */
  readonly #failed: Set<Task>
  /** How often its worker died before beginning a task: of the few that this befell. */
  readonly #deaths = new WeakMap<Task, number>()

  constructor(road: Road, line: WaitingLine, settler: Settler, failed: Set<Task>) {
    this.#road = road
    this.#line = line
    this.#settler = settler
    this.#failed = failed
  }

  /**
   * The worker is gone, or will be: what it had begun fails with `error`, what it had not goes back to where it stood. What
   * it has answered waits for that answer until the worker's end is sure. True when some caller was told.
   */
  fromLost(worker: WorkerHandle, error: unknown, isSure: boolean): boolean {
    const returned: Task[] = []
    const lost: LostTask[] = []
    for (const left of this.#road.leftBehind(worker, isSure)) {
      const { task, wasBegun } = left
      if (!wasBegun && task.canBePostedAgain && this.#mayReturn(task)) {
        moveTask(task, 'queued')
        returned.push(task)
        continue
      }
      moveTask(task, 'failed')
      this.#failed.add(task)
      lost.push({ task, reason: endOf(left, worker, error), retry: wasBegun ? task.retry : null })
    }
    if (returned.length > 0) this.#putBack(returned)
    return lost.length > 0 && this.#judge(lost)
  }

  /** What is asked is the user's code, which may cancel any of them. True when some caller was told. */
  #judge(lost: readonly LostTask[]): boolean {
    const again: Task[] = []
    for (const { task, reason, retry } of lost) {
      if (task.state !== 'failed') continue
      const verdict = retry === null ? reason : afterDeath(retry, reason)
      if (verdict === AGAIN) again.push(task)
      else if (task.state === 'failed') this.#tell(task, verdict)
    }
    const returned = again.filter(task => task.state === 'failed')
    for (const task of returned) requeueBegun(task)
    for (const { task } of lost) this.#failed.delete(task)
    if (returned.length > 0) this.#putBack(returned)
    return returned.length < lost.length
  }

  #tell(task: Task, error: unknown): void {
    if (error instanceof PoolClosedError) this.#settler.cutOff(task, error)
    else this.#settler.reject(task, error)
  }

  /** The worker is to leave: what it has not begun goes back to where it stood, except what was given away to it. */
  fromLeaving(worker: WorkerHandle): void {
    const returned = [...this.#road.unbegun(worker)]
    for (const task of returned) moveTask(task, 'queued')
    if (returned.length > 0) this.#putBack(returned)
  }

  /** The handler failed, and the task's `retry` lets it run once more. */
  runAgain(task: Task): void {
    requeueBegun(task)
    this.#putBack([task])
  }

  #mayReturn(task: Task): boolean {
    const deaths = (this.#deaths.get(task) ?? 0) + 1
    this.#deaths.set(task, deaths)
    return deaths <= MOST_RETURNS
  }

  /** To where they stood, and those that come after them too, since these must not start before. */
  #putBack(returned: Task[]): void {
    for (const task of this.#road.recall(Number.POSITIVE_INFINITY)) {
      moveTask(task, 'queued')
      returned.push(task)
    }
    // The last first: a queue of the user's own may know no place but its beginning.
    for (const task of returned.reverse()) this.#line.putBack(task)
  }
}

/** A worker had begun it, so it does not matter how long it waits for the next. */
function requeueBegun(task: Task): void {
  if (task.timeLimit !== null) task.timeLimit.wasBegun = true
  moveTask(task, 'queued')
}

function endOf({ task, wasBegun, wasLoading }: LeftTask, worker: WorkerHandle, error: unknown): unknown {
  if (error instanceof PoolClosedError) return error
  if (!wasBegun)
    return new WorkerExitError(worker.id, error instanceof WorkerExitError ? error.exitCode : 1, error)
  return wasLoading ? new WorkerStartError(worker.id, task, 'load', error) : error
}

/** The end of the pool is the end of all its tasks. */
function afterDeath(retry: Retry, reason: unknown): unknown {
  return reason instanceof PoolClosedError ? reason : retry.afterDeath(reason)
}
