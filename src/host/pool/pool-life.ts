// The states of a pool.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'
import type { Shutdown } from './shutdown.js'

/** `closing`: `close()` or `destroy()` was called. `closed`: all workers have ended. */
export type PoolState = 'open' | 'closing' | 'closed'

export const poolStates: StateTable<PoolState> = {
  open: ['closing'],
  closing: ['closed'],
  closed: [],
}

export interface PoolLife {
  state: PoolState
  /** `null` while the pool is open. */
  shutdown: Shutdown | null
}

export function movePool(pool: { state: PoolState }, next: PoolState): void {
  moveState(poolStates, pool, next, 'pool')
}
