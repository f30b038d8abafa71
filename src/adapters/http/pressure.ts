// The load figures of a pool for health checks of frameworks.
import type { Pool } from '../../index.js'
import type { OptionRule } from '../../kit.js'
import { value } from '../../kit.js'

/** A pool's figures for a health check. */
export interface PoolPressure {
  /** Queued tasks. */
  waiting: number
  /** Tasks that workers have. */
  inFlight: number
  /** Workers that are ready or starting. */
  workers: number
  /** 0 to 1: the run time of all tasks divided by the time of all workers since the pool was created. */
  utilization: number
}

/** When a pool is under pressure. */
export interface PressureLimit {
  /**
   * More queued tasks than this are pressure. A full queue is always pressure. Default without `maxQueue`: one less
   * than the number of slots of the pool.
   * @see [Report pressure](https://OWNER.github.io/lido/guides/fastify.html)
   */
  maxWaiting?: number | undefined
}

/** Refuses `NaN`, with which a pool would never be under pressure. */
export const maxWaitingRule: OptionRule<number | undefined> = value<number | undefined>(
  given => typeof given === 'number' && given >= 0,
  'a number of at least 0',
  { default: undefined },
)

export function pressureOf(pool: Pool): PoolPressure {
  const { tasks, workers, utilization } = pool.stats()
  return { waiting: tasks.waiting, inFlight: tasks.inFlight, workers: workers.length, utilization }
}

/** True when the pool accepts no tasks, its queue is full, or more tasks are queued than `maxWaiting`. */
export function isUnderPressure(pool: Pool, { maxWaiting }: PressureLimit): boolean {
  if (pool.stats().state !== 'open') return true
  if (maxWaiting === undefined) return pool.needsDrain
  // A queue without a limit is never full.
  return pool.queueSize > maxWaiting || (pool.needsDrain && pool.maxQueue < Number.POSITIVE_INFINITY)
}
