// How a pool is, for those who ask over HTTP: health checks of frameworks.
import type { Pool } from '../../index.js'
import { value } from '../../shared/options/option-rules.js'
import type { OptionRule } from '../../shared/options/option-table.js'

/** A pool's figures for a health check. */
export interface PoolPressure {
  /** Tasks that wait. */
  waiting: number
  /** Tasks that workers hold. */
  inFlight: number
  /** Workers that are ready, and those that start. */
  workers: number
  /** 0 to 1: the time that tasks ran, of the time that all workers had since the pool was made. */
  utilization: number
}

export interface PressureLimit {
  /** So many tasks may wait; a full queue is pressure in any case. Default, of a queue without an end: fewer than the pool has slots. */
  maxWaiting?: number | undefined
}

/** A limit that is no number would never find any pressure. */
export const maxWaitingRule: OptionRule<number | undefined> = value<number | undefined>(
  given => typeof given === 'number' && given >= 0,
  'a number of at least 0',
  { type: 'number ≥ 0', default: undefined, description: 'tasks that may wait' },
)

export function pressureOf(pool: Pool): PoolPressure {
  const { tasks, workers, utilization } = pool.stats()
  return { waiting: tasks.waiting, inFlight: tasks.inFlight, workers: workers.length, utilization }
}

/** True when the pool takes no more tasks, or more wait than may. */
export function isUnderPressure(pool: Pool, { maxWaiting }: PressureLimit): boolean {
  if (pool.stats().state !== 'open') return true
  if (maxWaiting === undefined) return pool.needsDrain
  // A queue without an end is never full.
  return pool.queueSize > maxWaiting || (pool.needsDrain && pool.maxQueue < Number.POSITIVE_INFINITY)
}
