// Decides how tasks and answers travel between a pool and its workers.

import type { PoolStats, TransportReason } from '../../api/stats.js'
import type { CoreSettings } from './settings.js'

/** True when workers claim tasks from the lane queue. False when every task and every answer is a message. */
export function usesSharedMemory(settings: CoreSettings): boolean {
  return transportReason(settings) === null
}

/** Why tasks do not travel through shared memory; `null` when they do. */
export function transportReason({ backend, transport, loadBalancer }: CoreSettings): TransportReason | null {
  if (backend !== 'thread') return 'backend'
  if (transport === 'messages') return 'transport'
  return loadBalancer === undefined ? null : 'loadBalancer'
}

export function transportOf(settings: CoreSettings): PoolStats['transport'] {
  if (settings.backend === 'process') return 'pipe'
  if (settings.backend === 'inline') return 'inline'
  return usesSharedMemory(settings) ? 'shared-memory' : 'messages'
}
