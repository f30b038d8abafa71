// The record of one accepted call: what is to be run, where it stands, and how its caller is answered.

import type { TransferItem } from '../../shared/messages/move.js'
import { keepShape } from '../../shared/platform/shapes.js'
import type { Call, CallTerms } from './call.js'
import type { QueuedTask } from './queued-task.js'
import { Retry } from './retry.js'
import type { TaskState } from './task-life.js'
import type { TimeLimitEntry } from './time-limits.js'

/** What has a task that is assigned: a worker, to those who know of workers. */
export interface TaskHolder {
  readonly id: number
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
  /** `null`: not known yet; of the lane's tasks it is known with the answer. A number would take 16 bytes from the start. */
  assignedAt: number | null = null
  holder: TaskHolder | null = null
  /** Its place with its holder, or in the lane. */
  slot = 0
  /** It was the `ordinal`-th task posted on its worker's channel. */
  ordinal = 0
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

  /** Posted twice, it would be the same: nothing of it is given away by posting. */
  get canBePostedAgain(): boolean {
    return this.transferList.length === 0
  }
}

keepShape(new Task(0, { payload: null, terms: { retry: null } as CallTerms }, 0, 0.5, Boolean))
