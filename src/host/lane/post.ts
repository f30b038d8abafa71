// Posts tasks: into the lane queue, where any worker may claim them, or by message to one worker.

import type { TransferItem } from '../../api/call-options.js'
import { refuseDetached } from '../../shared/errors/uncloneable-path.js'
import { isInt } from '../../shared/lane/lane-codec.js'
import { HAS_CARRIER, IS_INT, IS_NAMED, IS_TIMED, type PostedLimits } from '../../shared/lane/lane-queue.js'
import { carrierFrom } from '../../shared/lane/layout.js'
import { PayloadArena } from '../../shared/lane/payload-arena.js'
import type { PayloadForm } from '../../shared/messages/messages.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import type { Clock } from '../../shared/platform/clock.js'
import { toTimestamp32 } from '../../shared/platform/timestamp32.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Settler } from '../task/settle.js'
import {
  ClonedPayload,
  EncodedPayload,
  PackedPayload,
  payloadBytes,
  TakenPayload,
} from '../task/taken-payload.js'
import type { Task, TimeLimitEntry } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Worker } from '../workers/worker.js'
import type { HandlerRegistry } from './handler-registry.js'
import type { Lender } from './lent-slots.js'
import { type Payloads, refusal } from './payloads.js'
import type { PostedTasks } from './posted-tasks.js'

/** A longer time does not fit into a word. It is as good as none. */
const LONGEST_LIMIT_MS = 2 ** 31 - 1
const NOTHING: readonly TransferItem[] = []

/** The outcome of an attempt to post a task in the lane queue. */
export type PostOutcome =
  /** The task is posted, or it was settled: its payload was refused, or a getter of its payload ended it. */
  | 'done'
  /** The lane queue has no room now. */
  | 'full'
  /** The payload cannot go through shared memory. */
  | 'declined'

export interface PosterParts {
  posted: PostedTasks
  handlers: HandlerRegistry
  payloads: Payloads
  settler: Settler
  clock: Clock
  handlerMetrics: HandlerMetrics | null
}

export class Poster {
  readonly #posted: PostedTasks
  readonly #handlers: HandlerRegistry
  readonly #payloads: Payloads
  readonly #settler: Settler
  readonly #clock: Clock
  readonly #metrics: HandlerMetrics | null
  readonly #arena: PayloadArena
  /** The worker whose inbox gets the present task. `null`: any worker may claim it. */
  #worker: Worker | null = null

  constructor({ posted, handlers, payloads, settler, clock, handlerMetrics }: PosterParts) {
    this.#posted = posted
    this.#handlers = handlers
    this.#payloads = payloads
    this.#settler = settler
    this.#clock = clock
    this.#metrics = handlerMetrics
    this.#arena = new PayloadArena(posted.layout.payloads, posted.queue)
  }

  /**
   * Posts the task in the lane queue, for any worker.
   * @param worker not `null`: puts the task into the inbox of this worker, which must have room
   */
  post(task: Task, worker: Worker | null = null): PostOutcome {
    this.#worker = worker
    if (this.#metrics?.isDue() !== true) return this.#post(task)
    const from = this.#clock.now()
    const outcome = this.#post(task)
    if (outcome === 'done') this.#metrics.onPosted(this.#clock.now() - from)
    return outcome
  }

  #post(task: Task): PostOutcome {
    const { queue } = this.#posted
    if (!queue.hasRoom) return 'full'
    const { content, handlerId } = task
    const { carrier } = task.terms
    const flags = task.timeLimit === null ? 0 : IS_TIMED
    const int = isInt(content) && this.#handlers.isKnown(handlerId) ? content : null
    if (int !== null && carrier === undefined) {
      this.#offer(task, flags | IS_INT, 0, 0, int, 0)
      return 'done'
    }
    const from = this.#arena.reserve()
    if (from < 0) return 'full'
    if (int !== null) return this.#offerCarrying(task, flags | IS_INT, from, from, int, carrier!)
    const isNamed = content instanceof EncodedPayload ? content.isNamed : !this.#handlers.isKnown(handlerId)
    let to: number
    try {
      to = this.#payloads.write(task, from, this.#arena.reservedTo)
    } catch (refused) {
      if (task.state === 'queued') this.#settler.reject(task, refused)
      return 'done'
    }
    if (task.state !== 'queued') return 'done'
    if (to < 0) return 'declined'
    const allFlags = isNamed ? flags | IS_NAMED : flags
    if (carrier !== undefined) {
      if (this.#offerCarrying(task, allFlags, from, to, 0, carrier) === 'declined') return 'declined'
    } else {
      this.#offer(task, allFlags, from, to, 0, 0)
      this.#arena.take(task.ticket, queue.positionOf(task.ticket), to)
    }
    this.#payloads.onPosted(task, from, to, isNamed)
    return 'done'
  }

  /** Writes the carried values after the payload. They may have no room beside a large payload. */
  #offerCarrying(
    task: Task,
    flags: number,
    from: number,
    to: number,
    int: number,
    carrier: TakenPayload,
  ): 'done' | 'declined' {
    if (carrierFrom(to) + payloadBytes(carrier)! > this.#arena.reservedTo) return 'declined'
    const carrierTo = this.#payloads.writeCarrier(carrier, to)
    this.#offer(task, flags | HAS_CARRIER, from, to, int, carrierTo)
    this.#arena.take(task.ticket, this.#posted.queue.positionOf(task.ticket), carrierTo)
    return 'done'
  }

  #offer(task: Task, flags: number, from: number, to: number, int: number, carrierTo: number): void {
    moveTask(task, 'assigned')
    const { id: taskId, handlerId, timeLimit } = task
    const limits = timeLimit === null ? null : postedLimits(timeLimit, this.#clock.now())
    const posting = { taskId, handlerId, flags, from, to, int }
    const worker = this.#worker
    this.#posted.post(task, posting, limits, carrierTo, worker?.tasks.inbox)
    if (worker === null) return
    worker.tasks.noteSent()
    // A worker that is awake looks into its inbox by itself.
    if (worker.tasks.bell.ring()) worker.link.post('bell')
  }

  /**
   * Sends the task to one worker by message. The caller checks that a ticket is free, and takes payloads that are not moved. An unsendable
   * payload rejects the task.
   * @param lender the waiting task of this worker whose slot the task uses
   */
  send(worker: Worker, task: Task, lender: Lender | null = null): void {
    const { id: taskId, handlerId } = task
    const handler = this.#handlers.isKnown(handlerId) ? null : task.terms.handler
    const { payload, payloadForm, transferList } = this.#messageOf(task)
    moveTask(task, 'assigned')
    task.assignedAt = this.#clock.now()
    const messageNumber = this.#posted.address(task, worker.id, lender)
    const { ticket, isExclusive } = task
    const mustRun = !task.canBePostedAgain || lender !== null
    const lenderId = lender === null ? 0 : lender.taskId
    const { timeLimit } = task
    const { carrier } = task.terms
    worker.tasks.noteSent()
    const head = { ticket, messageNumber, taskId, handlerId, handler, isExclusive, mustRun, lenderId }
    const tail = {
      ...(timeLimit === null ? undefined : { limits: postedLimits(timeLimit, task.assignedAt) }),
      ...(carrier === undefined ? undefined : { carrier: this.#carrierMessage(carrier) }),
    }
    try {
      const from = this.#metrics?.isDue() === true ? this.#clock.now() : 0
      this.#payloads.send(task.createdAt, () => {
        const isTaken = task.content instanceof TakenPayload
        const sent = isTaken ? { value: payload, transferList } : outgoing(payload, transferList)
        refuseDetached(sent.transferList)
        worker.link.post(
          { kind: 'run', ...head, payload: sent.value, payloadForm, ...tail },
          sent.transferList,
        )
      })
      if (from > 0) this.#metrics!.onPosted(this.#clock.now() - from)
      // The worker has the moved items now.
      if (transferList.length > 0) task.content = undefined
    } catch (failure) {
      worker.tasks.noteNotSent()
      // The worker may wait for the message and claim nothing until the bell rings.
      if (worker.tasks.ring !== null) worker.link.post('bell')
      this.#refuse(task, refusal(failure, payload, transferList))
    }
  }

  #messageOf({ content, transferList }: Task): {
    payload: unknown
    payloadForm: PayloadForm
    transferList: readonly TransferItem[]
  } {
    if (content instanceof PackedPayload) {
      return { payload: content.packed, payloadForm: content.form, transferList: NOTHING }
    }
    if (content instanceof ClonedPayload) {
      return { payload: content.value, payloadForm: 'value', transferList: content.transferList }
    }
    if (content instanceof EncodedPayload) {
      return { payload: this.#payloads.decode(content), payloadForm: 'value', transferList: NOTHING }
    }
    return { payload: content, payloadForm: 'value', transferList }
  }

  #carrierMessage(carrier: TakenPayload): { payload: unknown; payloadForm: PayloadForm } {
    if (carrier instanceof PackedPayload) return { payload: carrier.packed, payloadForm: carrier.form }
    if (carrier instanceof ClonedPayload) return { payload: carrier.value, payloadForm: 'value' }
    return { payload: this.#payloads.decode(carrier as EncodedPayload), payloadForm: 'value' }
  }

  #refuse(task: Task, refused: unknown): void {
    // A getter of the payload may have cancelled the task or killed the worker.
    if (task.state === 'settled' && this.#posted.at(task.ticket, task.id) === task) {
      this.#posted.removeKept(task)
    }
    if (task.state !== 'assigned') return
    this.#posted.tickets.takeBackAddressed(task.ticket)
    this.#posted.remove(task)
    this.#settler.reject(task, refused)
  }
}

/** What the worker needs to know of the limits: `context.deadline`. */
function postedLimits({ limits, deadlineAt }: TimeLimitEntry, now: number): PostedLimits {
  return {
    timeoutMs: limits.timeoutMs > LONGEST_LIMIT_MS ? 0 : Math.ceil(limits.timeoutMs),
    deadline: deadlineAt - now > LONGEST_LIMIT_MS ? 0 : toTimestamp32(deadlineAt),
  }
}
