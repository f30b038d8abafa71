// The states of a pool.

import type { CloseReport } from '../../api/call-options.js'
import type { PoolState } from '../../api/stats.js'
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

export const poolStates: StateTable<PoolState> = {
  open: ['closing'],
  closing: ['closed'],
  closed: [],
}

/** The end of a pool that closes. */
export interface PoolEnd {
  close(force: boolean): Promise<CloseReport>
  destroy(): Promise<CloseReport>
  finishIfIdle(): void
}

export interface PoolLife {
  state: PoolState
  /** `null` while the pool is open. */
  end: PoolEnd | null
}

export function movePool(pool: { state: PoolState }, next: PoolState): void {
  moveState(poolStates, pool, next, 'pool')
}
