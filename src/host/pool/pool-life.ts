// The states of a pool.
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'
import type { CloseReport } from './call-options.js'

/** `closing`: `close()` or `destroy()` was called. `closed`: all workers have ended. */
export type PoolState = 'open' | 'closing' | 'closed'

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
