// The states of a pool.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

/** `closing`: `close()` or `destroy()` was called. `closed`: all workers have ended. */
export type PoolState = 'open' | 'closing' | 'closed'

export const poolStates: StateTable<PoolState> = {
  open: ['closing'],
  closing: ['closed'],
  closed: [],
}

export function movePool(pool: { state: PoolState }, next: PoolState): void {
  moveState(poolStates, pool, next, 'pool')
}
