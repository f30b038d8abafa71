// One accepted call: its payload and options, its state, and the function that settles the caller's promise.

import type { TransferItem } from '../../api/call-options.js'
import type { TaskMessage } from '../../api/channels.js'
import type { QueuedTask } from '../../api/queued-task.js'
import { keepShape } from '../../shared/platform/shapes.js'
import type { Call, CallTerms, Limits } from './call.js'
import type { Due } from './due-heap.js'
import { Retry } from './retry.js'
import { TakenPayload } from './taken-payload.js'
import type { TaskState } from './task-life.js'

const LAST_TASK_ID = 2 ** 31 - 1

/** Task ids fit into a shared 32-bit word: 1 to 2^31 - 1, then 1 again. */
export function nextTaskId(id: number): number {
  return id === LAST_TASK_ID ? 1 : id + 1
}

/** A queue may hold a million tasks, and each field costs 8 bytes. So tasks share `terms` where they can. */
export class Task implements QueuedTask {
  readonly id: number
  terms: CallTerms
  readonly handlerId: number
  /** The payload as the caller gave it, until the host has taken it. Then a primitive or a `TakenPayload`. */
  content: unknown
  readonly createdAt: number
  /** `null`: the task runs once. */
  retry: Retry | null
  /** Settles the caller's promise. A `Rejection` rejects it. */
  resolve: (answer: unknown) => void

  state: TaskState = 'queued'
  /**
   * When a worker started or received the task; `null`: not known yet. A number here would take 16 bytes from the
   * start.
   */
  assignedAt: number | null = null
  /** The ticket in shared memory while the task is posted. */
  ticket = 0
  /** The worker that gets the task by message; 0: any worker may claim it; -1: by message, no worker chosen yet. */
  addressee = 0
  /** The message of the channel `lido.task`. `null`: nobody follows the task. */
  traced: TaskMessage | null = null
  /** `null`: no time limit. */
  timeLimit: TimeLimitEntry | null = null

  // The queues of this package keep their links here, so that they remove a task without a search.
  previous: Task | null = null
  next: Task | null = null
  queueIndex = -1
  queueOrder = 0

  constructor(
    id: number,
    { payload, terms }: Call,
    handlerId: number,
    createdAt: number,
    resolve: (answer: unknown) => void,
  ) {
    this.id = id
    this.terms = terms
    this.handlerId = handlerId
    this.content = payload
    this.createdAt = createdAt
    this.retry = terms.retry === null ? null : new Retry(terms.retry, terms.context)
    this.resolve = resolve
  }

  /** What queues and load balancers see. `undefined` when the pool has neither of the program. */
  get payload(): unknown {
    return this.content instanceof TakenPayload ? this.content.given : this.content
  }

  get filename(): string {
    return this.terms.handler.filename
  }

  get name(): string {
    return this.terms.handler.name
  }

  get transferList(): readonly TransferItem[] {
    return this.terms.transferList
  }

  get signal(): AbortSignal | null {
    return this.terms.signal
  }

  get isExclusive(): boolean {
    return this.terms.isExclusive
  }

  get priority(): number {
    return this.terms.priority
  }

  get key(): string | null {
    return this.terms.key
  }

  get group(): string | null {
    return this.terms.group
  }

  get queueOptions(): unknown {
    return this.terms.queueOptions
  }

  /** Only one worker may run the task. */
  get isPinned(): boolean {
    return this.terms.workerId > 0
  }

  /** False when posting moves parts of the payload to a worker, and when only one worker may run the task. */
  get canBePostedAgain(): boolean {
    return this.transferList.length === 0 && !this.isPinned
  }
}

/** The task that was accepted first. */
export function oldestOf(tasks: Iterable<Task>): Task | null {
  let oldest: Task | null = null
  for (const task of tasks) if (oldest === null || task.createdAt < oldest.createdAt) oldest = task
  return oldest
}

/** The time limits of one task, as an item of the heap in `TimeLimits`. */
export class TimeLimitEntry implements Due {
  readonly task: Task
  readonly limits: Limits
  readonly deadlineAt: number
  dueAt: number
  place = -1
  /** A worker has started the task once, so `queueTimeout` no longer applies. */
  wasStarted = false

  constructor(task: Task, limits: Limits, deadlineAt: number) {
    this.task = task
    this.limits = limits
    this.deadlineAt = deadlineAt
    this.dueAt = Math.min(task.createdAt + Math.min(limits.timeoutMs, limits.queueTimeoutMs), deadlineAt)
  }
}

keepShape(new Task(0, { payload: null, terms: { retry: null } as CallTerms }, 0, 0.5, Boolean))
