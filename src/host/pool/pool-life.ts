// The states of a pool.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

export type PoolState = 'open' | 'closing' | 'closed'

export const poolStates: StateTable<PoolState> = {
  open: ['closing'],
  closing: ['closed'],
  closed: [],
}

export function movePool(pool: { state: PoolState }, next: PoolState): void {
  moveState(poolStates, pool, next, 'pool')
}
