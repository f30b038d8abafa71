// Posts tasks: into the shared queue, where any worker may claim them, or by message to one worker.

import type { Encoder } from '../../shared/codec/encoder.js'
import { MARK } from '../../shared/codec/shared-handle.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import {
  refusalCause,
  refuseDetached,
  UnsendableError,
  unsendablePath,
} from '../../shared/errors/uncloneable-path.js'
import { encoderFor, isInt } from '../../shared/lane/lane-codec.js'
import { LARGEST_VALUE_BYTES } from '../../shared/lane/layout.js'
import { PayloadArena } from '../../shared/lane/payload-arena.js'
import { IS_INT, IS_NAMED, IS_TIMED } from '../../shared/lane/shared-queue.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Worker } from '../workers/worker.js'
import type { HandlerRegistry } from './handler-registry.js'
import type { PostedTasks } from './posted-tasks.js'
import type { SharedValues } from './shared-values.js'

/** The outcome of an attempt to post a task in the shared queue. */
export type PostOutcome =
  /** The task is posted, or a getter of its payload made the pool settle it meanwhile. */
  | 'done'
  /** The shared queue has no room now. */
  | 'full'
  /** The payload cannot go through shared memory. */
  | 'declined'

export class Poster {
  readonly #posted: PostedTasks
  readonly #handlers: HandlerRegistry
  readonly #settler: Settler
  readonly #clock: Clock
  readonly #metrics: HandlerMetrics | null
  readonly #shared: SharedValues
  readonly #arena: PayloadArena
  readonly #encoder: Encoder

  constructor(
    posted: PostedTasks,
    handlers: HandlerRegistry,
    settler: Settler,
    clock: Clock,
    metrics: HandlerMetrics | null,
    shared: SharedValues,
  ) {
    const { layout, queue } = posted
    this.#posted = posted
    this.#handlers = handlers
    this.#settler = settler
    this.#clock = clock
    this.#metrics = metrics
    this.#shared = shared
    this.#arena = new PayloadArena(layout.payloads, queue)
    this.#encoder = encoderFor(layout)
  }

  /** Posts the task in the shared queue, for any worker. */
  post(task: Task): PostOutcome {
    if (this.#metrics?.isDue() !== true) return this.#post(task)
    const from = this.#clock.now()
    const outcome = this.#post(task)
    if (outcome === 'done') this.#metrics.onPosted(this.#clock.now() - from)
    return outcome
  }

  #post(task: Task): PostOutcome {
    const { queue } = this.#posted
    if (!queue.hasRoom) return 'full'
    const { payload, handlerId } = task
    const isKnown = this.#handlers.isKnown(handlerId)
    const flags = task.timeLimit === null ? 0 : IS_TIMED
    if (isKnown && isInt(payload)) {
      this.#offer(task, flags | IS_INT, 0, 0, payload)
      return 'done'
    }
    this.#shared.onSending(task.createdAt)
    const from = this.#arena.reserve()
    if (from < 0) return 'full'
    const value = isKnown ? payload : [task.terms.handler, payload]
    const to = this.#encoder.encode(value, from, from + LARGEST_VALUE_BYTES)
    // A getter of the payload may have cancelled the task or closed the pool.
    if (task.state !== 'queued') return 'done'
    if (to < 0) return 'declined'
    this.#offer(task, isKnown ? flags : flags | IS_NAMED, from, to, 0)
    this.#arena.take(task.ticket, queue.positionOf(task.ticket), to)
    return 'done'
  }

  #offer(task: Task, flags: number, from: number, to: number, int: number): void {
    moveTask(task, 'assigned')
    this.#posted.post(task, { taskId: task.id, handlerId: task.handlerId, flags, from, to, int })
  }

  /**
   * Sends the task to one worker by message. The caller checks that a ticket is free. An unsendable payload rejects the
   * task.
   */
  send(worker: Worker, task: Task): void {
    const { id: taskId, handlerId, payload, transferList } = task
    const handler = this.#handlers.isKnown(handlerId) ? null : task.terms.handler
    moveTask(task, 'assigned')
    task.assignedAt = this.#clock.now()
    const messageNumber = this.#posted.address(task, worker.id)
    const { ticket, isExclusive } = task
    const mustRun = !task.canBePostedAgain
    worker.tasks.noteSent()
    this.#shared.onSending(task.createdAt)
    try {
      refuseDetached(transferList)
      const from = this.#metrics?.isDue() === true ? this.#clock.now() : 0
      worker.link.post(
        { kind: 'run', ticket, messageNumber, taskId, handlerId, handler, isExclusive, mustRun, payload },
        transferList,
      )
      if (from > 0) this.#metrics!.onPosted(this.#clock.now() - from)
    } catch (failure) {
      worker.tasks.noteNotSent()
      // The worker may wait for the message and claim nothing until the bell rings.
      if (worker.tasks.ring !== null) worker.link.post('bell')
      this.#refuse(task, failure)
    }
  }

  #refuse(task: Task, failure: unknown): void {
    const { payload, transferList } = task
    const refused = failure instanceof UnsendableError ? failure.path : unsendablePath(payload, transferList)
    // The path ends at the handle of a shared value, not inside it.
    const path = refused.replace(`["${MARK}"]`, '')
    const cause = refusalCause(failure, payload, transferList)
    // A getter of the payload may have cancelled the task or killed the worker.
    if (task.state === 'settled' && this.#posted.at(task.ticket, task.id) === task) {
      this.#posted.removeKept(task)
    }
    if (task.state !== 'assigned') return
    this.#posted.tickets.takeBackAddressed(task.ticket)
    this.#posted.remove(task)
    this.#settler.reject(task, new NotCloneableError(path, cause))
  }
}
