// The record of one accepted call: what is to be run, where it stands, and how its caller is answered.

import type { TransferItem } from '../../shared/messages/move.js'
import { keepShape } from '../../shared/platform/shapes.js'
import type { Call, CallTerms, Limits } from './call.js'
import type { Due } from './due-heap.js'
import type { QueuedTask } from './queued-task.js'
import { Retry } from './retry.js'
import type { TaskState } from './task-life.js'

const LAST_TASK_ID = 2 ** 31 - 1

/** Task ids fit into a shared word: 1 to 2^31 - 1, then 1 again. */
export function nextTaskId(id: number): number {
  return id === LAST_TASK_ID ? 1 : id + 1
}

/** A million of them may wait: what most calls have in common is in `terms`, and each field costs 8 bytes. */
export class Task implements QueuedTask {
  readonly id: number
  readonly terms: CallTerms
  readonly handlerId: number
  readonly payload: unknown
  readonly createdAt: number
  /** `null`: it is run once. */
  readonly retry: Retry | null
  /** Settles the caller's promise: it is rejected by a `Refusal`. */
  readonly resolve: (answer: unknown) => void

  state: TaskState = 'queued'
  /** When a worker started it, or was sent it; `null`: not known yet. A number would take 16 bytes from the start. */
  assignedAt: number | null = null
  /** Its place in shared memory while it is posted. */
  ticket = 0
  /** The worker that is sent the task by message; 0: any worker may claim it; -1: one is to be chosen. */
  addressee = 0
  /** `null`: its time is not limited. */
  timeLimit: TimeLimitEntry | null = null

  // A queue of ours keeps its own links here, so that removal needs no search.
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
    this.payload = payload
    this.createdAt = createdAt
    this.retry = terms.retry === null ? null : new Retry(terms.retry)
    this.resolve = resolve
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

  get queueOptions(): unknown {
    return this.terms.queueOptions
  }

  /** False when posting moves parts of the payload to a worker. */
  get canBePostedAgain(): boolean {
    return this.transferList.length === 0
  }
}

/** The time limits of one task. `TimeLimits` keeps it in its heap. */
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
