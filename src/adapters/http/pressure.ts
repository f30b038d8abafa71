// How a pool is, for those who ask over HTTP: health checks of frameworks.
import { InvalidOptionError, type Pool } from '../../index.js'
import { refuse } from './refuse.js'

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

/** Throws `InvalidOptionError`: a check that compares with something else than a number would never find any pressure. */
export function checkLimit({ maxWaiting, ...others }: PressureLimit, known: string): PressureLimit {
  for (const name of Object.keys(others))
    throw new InvalidOptionError(name, `There is no option '${name}' of a health check. Known are ${known}.`)
  if (maxWaiting === undefined || (typeof maxWaiting === 'number' && maxWaiting >= 0)) return { maxWaiting }
  return refuse('maxWaiting', maxWaiting, 'a number of at least 0')
}

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
