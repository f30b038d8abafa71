// The host's view of one worker's tasks: the shared state of the worker, its result ring, and the tasks sent to it.

import type { QueuedTask } from '../../api/queued-task.js'
import type { Decoder } from '../../shared/codec/decoder.js'
import { WorkerExitError } from '../../shared/errors/pool-errors.js'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { InboxWriter } from '../../shared/lane/inbox.js'
import { decoderFor } from '../../shared/lane/lane-codec.js'
import { createWorkerState, type WorkerStateLayout } from '../../shared/lane/layout.js'
import { ResultReader } from '../../shared/lane/result-ring.js'
import { WorkerLaneState } from '../../shared/lane/worker-state.js'
import type { KnownResource, LaneOrder } from '../../shared/messages/messages.js'
import { realClock } from '../../shared/platform/clock.js'
import type { HandlerRegistry } from '../lane/handler-registry.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import { isLarge } from '../task/taken-payload.js'
import type { Task } from '../task/task.js'

/** The parts of the lane that all workers of a pool share. */
export interface Lane {
  readonly posted: PostedTasks
  readonly handlers: HandlerRegistry
  readonly payloads: { readonly resources: KnownResource[]; send<T>(acceptedAt: number, send: () => T): T }
  /** Workers claim tasks from the lane queue and answer through their result rings. */
  readonly usesLaneQueue: boolean
  /** False: threads busy-wait although others need the core. */
  readonly yieldsCore: boolean
}

export class WorkerTasks {
  readonly bell: WorkerBell
  /** `null`: the worker answers by message. */
  readonly ring: ResultReader | null
  readonly decoder: Decoder | null
  /** `null`: the worker claims no tasks. */
  readonly inbox: InboxWriter | null
  readonly #layout: WorkerStateLayout
  readonly #state: WorkerLaneState
  readonly #workerId: number
  readonly #lane: Lane
  /** How many tasks the host has sent so far, by message or inbox. */
  #sent = 0
  /** How many `progress` messages the host has handled so far. */
  #heard = 0

  constructor(workerId: number, lane: Lane) {
    this.#workerId = workerId
    this.#lane = lane
    this.#layout = createWorkerState()
    this.#state = new WorkerLaneState(this.#layout)
    this.bell = new WorkerBell(this.#layout.memory)
    this.ring = lane.usesLaneQueue ? new ResultReader(this.#layout) : null
    this.decoder = lane.usesLaneQueue ? decoderFor(this.#layout) : null
    this.inbox = lane.usesLaneQueue ? new InboxWriter(this.#layout, workerId) : null
  }

  /** How many tasks the worker has claimed from the lane queue and has not answered. */
  get claimed(): number {
    return this.#state.held
  }

  /** The worker may have died while it read a payload. */
  get hasLargePayload(): boolean {
    return this.#lane.posted.heldBy(this.#workerId).some(({ content }) => isLarge(content))
  }

  get hasResults(): boolean {
    return this.ring?.isEmpty === false
  }

  /** The error for the tasks of a worker that has damaged its result ring; `null` while the ring is intact. */
  get damage(): WorkerExitError | null {
    const problem = this.ring?.damage ?? null
    return problem === null ? null : new WorkerExitError(this.#workerId, 1, undefined, null, true, problem)
  }

  /** The tasks that the worker holds, in the order of acceptance. */
  list(): Task[] {
    return this.#lane.posted.heldBy(this.#workerId)
  }

  hasStarted(task: Task): boolean {
    const { tickets } = this.#lane.posted
    return tickets.phaseOf(task.ticket) !== 'claimed' && tickets.holderOf(task.ticket) === this.#workerId
  }

  /** When this worker started the task; `null` for other tasks, and while the time of the task does not count. */
  startOf(task: QueuedTask, now: number): number | null {
    const held = this.list().find(other => other === task)
    return held !== undefined && this.hasStarted(held)
      ? this.#lane.posted.tickets.startedAt(held.ticket, now)
      : null
  }

  /** Call it before the message with a task is sent, and after a task was put into the inbox. The worker then claims no later task. */
  noteSent(): void {
    this.#state.setSent(++this.#sent)
  }

  /** Call it when the message could not be sent. */
  noteNotSent(): void {
    this.#state.setSent(--this.#sent)
  }

  /** Call it when a `progress` message was handled. The worker then sends the next one. */
  noteHeard(): void {
    this.#state.setHeard(++this.#heard)
  }

  allowSpin(isAllowed: boolean): void {
    this.#state.allowSpin(isAllowed)
  }

  /** Stops an idle worker from claiming tasks. False when the worker holds a task or may just claim one. */
  retire(): boolean {
    if (this.#lane.posted.slots.sentTo(this.#workerId) > 0) return false
    return !this.#lane.usesLaneQueue || this.bell.retire()
  }

  /** From now on the worker must not claim tasks. */
  dismiss(): void {
    this.bell.dismiss()
  }

  order(): LaneOrder {
    const { handlers, payloads, usesLaneQueue, posted, yieldsCore } = this.#lane
    return {
      memory: posted.layout.memory,
      state: this.#layout.memory,
      usesLaneQueue,
      workerId: this.#workerId,
      slots: posted.slots.perWorker,
      clockOrigin: realClock.origin(),
      yieldsCore,
      handlers: handlers.known,
      resources: payloads.resources,
    }
  }
}
