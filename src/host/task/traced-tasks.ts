// Publishes the tasks of a pool in the channel `lido.task`. A task whose start nobody saw has no message, and publishes nothing later.
import type { PoolIdentity, TaskMessage } from '../../api/channels.js'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { TraceChannel } from '../../shared/platform/channels.js'
import type { Outcome } from '../metrics/task-metrics.js'
import { NEVER_STARTED } from './rejection.js'
import type { Task } from './task.js'
import type { Progress } from './time-limits.js'

const channel = new TraceChannel<TaskMessage>('lido.task')

/** Where a task runs or ran. */
export interface RanOn {
  readonly id: number
  readonly threadId: number
}

export class TracedTasks {
  readonly #pool: PoolIdentity
  /** The message of the call that the pool accepts now, until its `end`. */
  #entering: TaskMessage | null = null

  constructor(pool: PoolIdentity) {
    this.#pool = pool
  }

  /** True when a new task publishes its events. */
  get hasSubscribers(): boolean {
    return channel.hasSubscribers
  }

  /** Publishes `start`, and calls the function with the stores that are bound to the event. */
  start<T>(
    taskId: number,
    { filename, name }: { filename: string; name: string },
    createdAt: number,
    queueSize: number,
    accept: (message: TaskMessage) => T,
  ): T {
    const message: TaskMessage = {
      pool: this.#pool,
      taskId,
      filename,
      name,
      createdAt,
      queueSize,
      attempt: 1,
      workerId: undefined,
      threadId: undefined,
      waitMs: undefined,
      runMs: undefined,
      outcome: undefined,
      result: undefined,
      error: undefined,
    }
    const outer = this.#entering
    this.#entering = message
    try {
      return channel.start(message, accept)
    } finally {
      this.#entering = outer
    }
  }

  /** The pool has accepted the task. */
  onAccepted(message: TaskMessage): void {
    this.#end(message)
  }

  /** The pool has refused the call. */
  onRefused(message: TaskMessage, error: unknown): void {
    this.#end(message)
    message.outcome = 'rejected'
    message.error = error
    channel.settle(message, true)
    channel.asyncEnd(message)
  }

  /** A worker has answered the task. */
  onAnswered({ traced, assignedAt, createdAt }: Task, { id, threadId }: RanOn, runMs: number): void {
    if (traced === null) return
    traced.workerId = id
    traced.threadId = threadId
    traced.waitMs = assignedAt! - createdAt
    traced.runMs = runMs
  }

  /** The worker of a started task has ended. */
  onLost(task: Task, worker: RanOn): void {
    this.#onUnanswered(task, worker, null)
  }

  /** The caller cancels a task that the worker has. Ignores a task that the worker has not started. */
  onAbandoned(task: Task, worker: RanOn, progress: Progress): void {
    if (typeof progress === 'number' || progress === 'paused') {
      this.#onUnanswered(task, worker, progress === 'paused' ? null : progress)
    }
  }

  /** Times of an earlier attempt do not belong to this worker. */
  #onUnanswered({ traced, createdAt }: Task, { id, threadId }: RanOn, startedAt: number | null): void {
    if (traced === null) return
    traced.workerId = id
    traced.threadId = threadId
    traced.waitMs = startedAt === null ? undefined : Math.max(0, startedAt - createdAt)
    traced.runMs = undefined
  }

  /** The task runs once more. */
  onAgain({ traced }: Task): void {
    if (traced !== null) traced.attempt++
  }

  /** Settles the promise of the caller between `asyncStart` and `asyncEnd`. */
  settle(task: Task, message: TaskMessage, outcome: Outcome, answer: unknown, settled: unknown): void {
    this.#end(message)
    message.outcome = outcome
    if (outcome === 'fulfilled') message.result = answer
    else message.error = answer === NEVER_STARTED ? neverStarted() : answer
    channel.settle(message, outcome !== 'fulfilled')
    try {
      task.resolve(settled)
    } finally {
      channel.asyncEnd(message)
    }
  }

  /** A task may settle while the pool accepts it: its `end` comes first. */
  #end(message: TaskMessage): void {
    if (this.#entering !== message) return
    this.#entering = null
    channel.end(message)
  }
}

function neverStarted(): TaskCancelledError {
  return new TaskCancelledError(undefined, 'its worker ended before it started the task')
}
