// How a pool's tasks travel.

import { hasSharedMemory } from '../../shared/channel/claims.js'
import { watchLargeBuffers } from '../../shared/platform/allocator.js'
import { isMainThread } from '../../shared/platform/host-node-modules.js'
import type { BackendKind } from '../backend/backend-kind.js'
import { HandlerTable } from '../dispatch/handler-table.js'
import type { Holding } from '../workers/holding.js'
import { LaneDesk } from '../workers/lane-desk.js'
import { LaneTasks } from '../workers/lane-tasks.js'
import { PortSlots } from '../workers/port-slots.js'
import type { CoreSettings } from './options.js'
import type { PoolStats, TransportReason } from './stats.js'

/** The lane has room for the tasks of so many workers, since `resize()` may raise `maxWorkers` later. */
const LEAST_PLANNED_WORKERS = 64

export class Transport {
  readonly handlers = new HandlerTable()
  /** `null`: tasks travel by messages alone. */
  readonly lane: LaneTasks | null
  /** Why not through shared memory. `null`: they do. */
  readonly reason: TransportReason | null
  /** A task posted and not begun can be taken back: host and workers see the same words. */
  readonly canTakeBack: boolean
  readonly name: PoolStats['transport']
  readonly #slotsPerWorker: number

  constructor(settings: CoreSettings) {
    this.#slotsPerWorker = settings.concurrentTasksPerWorker
    this.reason = reasonOf(settings)
    this.canTakeBack = hasSharedMemory() && settings.backend !== 'process'
    this.name = nameOf(settings.backend, this.reason)
    this.lane =
      this.reason === null
        ? new LaneTasks(Math.max(settings.size.maxWorkers, LEAST_PLANNED_WORKERS) * this.#slotsPerWorker)
        : null
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

function nameOf(backend: BackendKind, reason: TransportReason | null): PoolStats['transport'] {
  if (backend === 'thread') return reason === null ? 'shared-memory' : 'messages'
  return backend === 'process' ? 'pipe' : 'inline'
}

function reasonOf({ backend, transport, loadBalancer }: CoreSettings): TransportReason | null {
  if (backend !== 'thread') return 'backend'
  if (transport === 'messages') return 'transport'
  if (loadBalancer !== undefined) return 'loadBalancer'
  return hasSharedMemory() ? null : 'no-shared-memory'
}
