// The slots of a worker whose tasks come by the port: the host puts each task into one.

import { allocateClaims, allowSpin, isClaimed } from '../../shared/channel/claims.js'
import type { RoadOrder } from '../../shared/messages/messages.js'
import type { SharedWords } from '../../shared/platform/atomics.js'
import { realClock } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Holding } from './holding.js'

export class PortSlots implements Holding {
  readonly claims: SharedWords
  usage = 0
  isExclusive = false
  readonly #tasks: (Task | null)[] = []
  readonly #freed: number[] = []

  constructor(slots: number) {
    this.claims = allocateClaims(slots)
  }

  /** Puts the task into a free slot. */
  assign(task: Task): void {
    task.slot = this.#freed.pop() ?? this.#tasks.length
    this.#tasks[task.slot] = task
    this.usage++
    this.isExclusive = task.isExclusive
  }

  release(task: Task): void {
    this.#tasks[task.slot] = null
    this.#freed.push(task.slot)
    this.usage--
    this.isExclusive = false
  }

  /** The task in a slot, unless the slot was given to another meanwhile. */
  taskAt(slot: number, taskId: number): Task | null {
    const task = this.#tasks[slot] ?? null
    return task !== null && task.id === taskId ? task : null
  }

  tasks(): Task[] {
    const held = this.#tasks.filter(task => task !== null)
    return held.sort((one, other) => one.ordinal - other.ordinal)
  }

  hasBegun(task: Task): boolean {
    return isClaimed(this.claims, task.slot, task.id)
  }

  allowSpin(isAllowed: boolean): void {
    allowSpin(this.claims, isAllowed)
  }

  retire(): boolean {
    return this.usage === 0
  }

  get isEmpty(): boolean {
    return this.usage === 0
  }

  /** It takes nothing that it is not given. */
  dismiss(): void {}

  order(): RoadOrder {
    return { kind: 'port', claims: this.claims, clockOrigin: realClock.origin() }
  }
}
