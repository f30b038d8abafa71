// The life of a pool as a table, and the one function that moves it.
import { invariant } from '../../shared/platform/invariant.js'

export type PoolState = 'open' | 'closing' | 'closed'

export const poolMoves = {
  open: ['closing'],
  closing: ['closed'],
  closed: [],
} as const satisfies Record<PoolState, readonly PoolState[]>

export function movePool(pool: { state: PoolState }, next: PoolState): void {
  const legal: readonly PoolState[] = poolMoves[pool.state]
  invariant(
    legal.includes(next),
    `a pool moves from ${pool.state} to one of [${legal.join(', ')}], not to ${next}`,
  )
  pool.state = next
}
