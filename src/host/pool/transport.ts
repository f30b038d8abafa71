// Which road a pool's tasks take.
import { hasSharedMemory } from '../../shared/channel/claims.js'
import { HandlerTable } from '../dispatch/handler-table.js'
import type { Holding } from '../supervisor/holding.js'
import { LaneDesk } from '../supervisor/lane-desk.js'
import { LaneTasks } from '../supervisor/lane-tasks.js'
import { PortSlots } from '../supervisor/port-slots.js'
import type { PoolSettings } from './options.js'
import type { PortReason } from './stats.js'

export class Transport {
  readonly handlers = new HandlerTable()
  /** `null`: tasks travel by messages alone. */
  readonly lane: LaneTasks | null
  readonly reason: PortReason | null
  readonly #slotsPerWorker: number
  readonly #context: boolean

  constructor(settings: PoolSettings) {
    this.#slotsPerWorker = settings.concurrentTasksPerWorker
    this.#context = settings.context
    this.reason = whyPort(settings)
    this.lane = this.reason === null ? new LaneTasks(settings.maxThreads * this.#slotsPerWorker) : null
    const { handler } = settings
    if (handler !== null) this.lane?.handlers.push({ handlerId: this.handlers.idOf(handler), handler })
  }

  /** Host and workers see the same words, so a task posted and not begun can be taken back. */
  get canTakeBack(): boolean {
    return hasSharedMemory()
  }

  makeHolding(workerId: number): Holding {
    return this.lane === null
      ? new PortSlots(this.#slotsPerWorker, this.#context)
      : new LaneDesk(workerId, this.#slotsPerWorker, this.lane, this.#context)
  }
}

function whyPort({ lane, loadBalancer }: PoolSettings): PortReason | null {
  if (!lane) return 'option'
  if (loadBalancer !== null) return 'loadBalancer'
  return hasSharedMemory() ? null : 'noSharedMemory'
}
