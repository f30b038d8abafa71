// The desk of a worker whose tasks come by the lane: where the host reads what the worker holds, and its answers.

import type { Decoder } from '../../shared/codec/decoder.js'
import { DeskWords } from '../../shared/lane/desk.js'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { createDesk, type DeskLayout } from '../../shared/lane/layout.js'
import { ResultReader } from '../../shared/lane/result-ring.js'
import { decoderFor } from '../../shared/lane/values.js'
import type { RoadOrder } from '../../shared/messages/messages.js'
import { realClock } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Holding } from './holding.js'
import type { LaneTasks } from './lane-tasks.js'

export class LaneDesk implements Holding {
  readonly bell: WorkerBell
  readonly ring: ResultReader
  readonly decoder: Decoder
  /** Answers that came over the port so far. */
  portAnswers = 0
  readonly #layout: DeskLayout
  readonly #words: DeskWords
  readonly #workerId: number
  readonly #slots: number
  readonly #lane: LaneTasks

  constructor(workerId: number, slots: number, lane: LaneTasks) {
    this.#workerId = workerId
    this.#slots = slots
    this.#lane = lane
    this.#layout = createDesk()
    const { memory } = this.#layout
    this.#words = new DeskWords(this.#layout)
    this.bell = new WorkerBell(memory)
    this.ring = new ResultReader(this.#layout)
    this.decoder = decoderFor(this.#layout)
  }

  get usage(): number {
    return this.#words.held
  }

  get isExclusive(): boolean {
    return this.tasks().some(task => task.isExclusive)
  }

  tasks(): Task[] {
    return this.#lane.heldBy(this.#workerId)
  }

  hasBegun(task: Task): boolean {
    const phase = this.#lane.tickets.phaseOf(task.slot)
    return phase !== 'claimed' && this.#lane.tickets.holderOf(task.slot) === this.#workerId
  }

  allowSpin(isAllowed: boolean): void {
    this.#words.allowSpin(isAllowed)
  }

  retire(): boolean {
    // It may sleep while something is on offer for it alone, behind what is for another.
    return this.#lane.assignedTo(this.#workerId).length === 0 && this.bell.retire()
  }

  get isEmpty(): boolean {
    return this.usage === 0 && this.#lane.assignedTo(this.#workerId).length === 0
  }

  dismiss(): void {
    this.bell.dismiss()
  }

  order(): RoadOrder {
    return {
      kind: 'lane',
      lane: this.#lane.layout.memory,
      desk: this.#layout.memory,
      workerId: this.#workerId,
      slots: this.#slots,
      clockOrigin: realClock.origin(),
      handlers: this.#lane.handlers,
    }
  }
}
