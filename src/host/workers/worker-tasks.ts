// What one worker holds, as the host sees it: its shared state, its result ring, and the tasks that it was sent.
import type { Decoder } from '../../shared/codec/decoder.js'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { decoderFor } from '../../shared/lane/lane-codec.js'
import { createWorkerState, type WorkerStateLayout } from '../../shared/lane/layout.js'
import { ResultReader } from '../../shared/lane/result-ring.js'
import { WorkerSharedState } from '../../shared/lane/worker-state.js'
import type { LaneOrder } from '../../shared/messages/messages.js'
import { realClock } from '../../shared/platform/clock.js'
import type { HandlerRegistry } from '../lane/handler-registry.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Task } from '../task/task.js'

/** How the tasks of a pool reach its workers. */
export interface Lane {
  readonly posted: PostedTasks
  readonly handlers: HandlerRegistry
  /** Workers claim tasks from the shared queue and answer through their result rings. */
  readonly isShared: boolean
  readonly slotsPerWorker: number
}

export class WorkerTasks {
  readonly bell: WorkerBell
  /** `null`: the worker answers by message. */
  readonly ring: ResultReader | null
  readonly decoder: Decoder | null
  readonly #layout: WorkerStateLayout
  readonly #state: WorkerSharedState
  readonly #workerId: number
  readonly #lane: Lane
  /** Tasks sent by message so far. */
  #sent = 0

  constructor(workerId: number, lane: Lane) {
    this.#workerId = workerId
    this.#lane = lane
    this.#layout = createWorkerState()
    this.#state = new WorkerSharedState(this.#layout)
    this.bell = new WorkerBell(this.#layout.memory)
    this.ring = lane.isShared ? new ResultReader(this.#layout) : null
    this.decoder = lane.isShared ? decoderFor(this.#layout) : null
  }

  /** Tasks that the worker has claimed or was sent, and has not answered. */
  get usage(): number {
    const { posted, slotsPerWorker } = this.#lane
    // A sent task counts until the host has its answer. The worker may have claimed the next task meanwhile.
    return Math.min(this.#state.held + posted.sentTo(this.#workerId), slotsPerWorker)
  }

  /** The worker has a task that must run alone. */
  get isExclusive(): boolean {
    return this.#lane.posted.isExclusive(this.#workerId)
  }

  get hasResults(): boolean {
    return this.ring?.isEmpty === false
  }

  list(): Task[] {
    return this.#lane.posted.heldBy(this.#workerId)
  }

  hasStarted(task: Task): boolean {
    const { tickets } = this.#lane.posted
    return tickets.phaseOf(task.ticket) !== 'claimed' && tickets.holderOf(task.ticket) === this.#workerId
  }

  /** Called before a task is sent by message. */
  noteSent(): void {
    this.#state.setSent(++this.#sent)
  }

  /** The message could not be sent. */
  noteNotSent(): void {
    this.#state.setSent(--this.#sent)
  }

  /** Busy-waiting is allowed while a core is free. */
  allowSpin(isAllowed: boolean): void {
    this.#state.allowSpin(isAllowed)
  }

  /** Stops an idle worker from claiming tasks. False when it holds a task or may be claiming one. */
  retire(): boolean {
    if (this.#lane.posted.sentTo(this.#workerId) > 0) return false
    return !this.#lane.isShared || this.bell.retire()
  }

  /** The worker holds no task, and the host has collected all its answers. */
  get isEmpty(): boolean {
    return this.usage === 0 && this.list().length === 0
  }

  /** The worker must not claim tasks any more. */
  dismiss(): void {
    this.bell.dismiss()
  }

  order(): LaneOrder {
    const { handlers, isShared, posted, slotsPerWorker } = this.#lane
    return {
      memory: posted.layout.memory,
      state: this.#layout.memory,
      isShared,
      workerId: this.#workerId,
      slots: slotsPerWorker,
      clockOrigin: realClock.origin(),
      handlers: handlers.known,
    }
  }
}
