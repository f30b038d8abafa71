// Which road a pool's tasks take.

import { hasSharedMemory } from '../../shared/channel/claims.js'
import { watchLargeBuffers } from '../../shared/platform/allocator.js'
import { isMainThread } from '../../shared/platform/host-node-modules.js'
import type { BackendKind } from '../backend/backend-kind.js'
import { HandlerTable } from '../dispatch/handler-table.js'
import type { Holding } from '../workers/holding.js'
import { LaneDesk } from '../workers/lane-desk.js'
import { LaneTasks } from '../workers/lane-tasks.js'
import { PortSlots } from '../workers/port-slots.js'
import type { PoolSettings } from './options.js'
import type { PoolStats, PortReason } from './stats.js'

export class Transport {
  readonly handlers = new HandlerTable()
  /** `null`: tasks travel by messages alone. */
  readonly lane: LaneTasks | null
  readonly reason: PortReason | null
  /** A task posted and not begun can be taken back: host and workers see the same words. */
  readonly canTakeBack: boolean
  readonly name: PoolStats['transport']
  readonly #slotsPerWorker: number

  constructor(settings: PoolSettings) {
    this.#slotsPerWorker = settings.concurrentTasksPerWorker
    this.reason = whyPort(settings)
    this.canTakeBack = hasSharedMemory() && settings.backend !== 'process'
    this.name = nameOf(settings.backend, this.reason)
    this.lane = this.reason === null ? new LaneTasks(settings.maxThreads * this.#slotsPerWorker) : null
    if (this.lane !== null && isMainThread) watchLargeBuffers()
    const { handler } = settings
    if (handler !== null) this.lane?.handlers.push({ handlerId: this.handlers.idOf(handler), handler })
  }

  makeHolding(workerId: number): Holding {
    return this.lane === null
      ? new PortSlots(this.#slotsPerWorker)
      : new LaneDesk(workerId, this.#slotsPerWorker, this.lane)
  }
}

function nameOf(backend: BackendKind, reason: PortReason | null): PoolStats['transport'] {
  if (backend === 'thread') return reason === null ? 'lane' : 'port'
  return backend === 'process' ? 'pipe' : 'inline'
}

function whyPort({ backend, lane, loadBalancer }: PoolSettings): PortReason | null {
  if (backend !== 'thread') return 'backend'
  if (!lane) return 'option'
  if (loadBalancer !== null) return 'loadBalancer'
  return hasSharedMemory() ? null : 'noSharedMemory'
}
