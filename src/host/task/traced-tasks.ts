// The tasks of a pool that subscribers of the channel `lido.task` follow. A task whose start nobody saw has no message, and
// publishes nothing later.
import type { PoolIdentity, TaskMessage } from '../../api/channels.js'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { TraceChannel } from '../../shared/platform/channels.js'
import type { Outcome } from '../metrics/task-metrics.js'
import { NEVER_STARTED } from './rejection.js'
import type { Task } from './task.js'

const channel = new TraceChannel<TaskMessage>('lido.task')

/** Where a task runs or ran. */
export interface RanOn {
  readonly id: number
  readonly threadId: number
}

export class TracedTasks {
  readonly #pool: PoolIdentity
  readonly #messages = new Map<Task, TaskMessage>()

  constructor(pool: PoolIdentity) {
    this.#pool = pool
  }

  /** True when a new task publishes its events. */
  get hasSubscribers(): boolean {
    return channel.hasSubscribers
  }

  /** True when an accepted task publishes its events. */
  get isAny(): boolean {
    return this.#messages.size > 0
  }

  /**
   * Publishes `start`, lets the pool accept the task, and publishes `end`. A refused call settles at once.
   * @param accept creates the task; throws when the pool refuses the call
   */
  trace(
    taskId: number,
    handler: { filename: string; name: string },
    createdAt: number,
    queueSize: number,
    accept: (message: TaskMessage) => Task,
  ): Task {
    const { filename, name } = handler
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
    return channel.start(message, () => {
      try {
        const task = accept(message)
        channel.end(message)
        return task
      } catch (error) {
        channel.end(message)
        this.#settle(message, 'rejected', error, () => {})
        throw error
      }
    })
  }

  /** The task exists now. It may settle before `trace()` returns. */
  add(task: Task, message: TaskMessage): void {
    this.#messages.set(task, message)
  }

  /** A worker has answered the task. */
  onAnswered(task: Task, { id, threadId }: RanOn, runMs: number): void {
    const message = this.#messages.get(task)
    if (message === undefined) return
    message.workerId = id
    message.threadId = threadId
    message.waitMs = task.assignedAt! - task.createdAt
    message.runMs = runMs
  }

  /** The worker of a started task has ended. */
  onLost(task: Task, { id, threadId }: RanOn): void {
    const message = this.#messages.get(task)
    if (message === undefined) return
    message.workerId = id
    message.threadId = threadId
  }

  /** The task runs once more. */
  onAgain(task: Task): void {
    const message = this.#messages.get(task)
    if (message !== undefined) message.attempt++
  }

  /** @param settle settles the caller's promise */
  onSettled(task: Task, outcome: Outcome, answer: unknown, settle: () => void): void {
    const message = this.#messages.get(task)
    if (message === undefined) return settle()
    this.#messages.delete(task)
    this.#settle(message, outcome, answer, settle)
  }

  #settle(message: TaskMessage, outcome: Outcome, answer: unknown, settle: () => void): void {
    message.outcome = outcome
    if (outcome === 'fulfilled') message.result = answer
    else
      message.error =
        answer === NEVER_STARTED
          ? new TaskCancelledError(undefined, 'its worker ended before it started the task')
          : answer
    channel.settle(message, outcome !== 'fulfilled', settle)
  }
}
