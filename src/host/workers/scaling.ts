// Chooses the workers that leave because they are idle or because the pool has become smaller. Pure functions.

/** The object that `pool.resize()` changes. */
export interface PoolSize {
  /** The pool keeps this many workers alive. */
  minWorkers: number
  /** The largest number of workers at the same time. */
  maxWorkers: number
}

export interface IdleView {
  readonly isIdle: boolean
  /** When the worker last became idle, in ms of the host's clock. */
  readonly idleSince: number
}

/** The workers that have been idle for `idleTimeoutMs`, longest idle first. Leaves at least `minimum` workers. */
export function chooseRetired<View extends IdleView>(
  workers: readonly View[],
  minimum: number,
  idleTimeoutMs: number,
  now: number,
): View[] {
  const surplus = workers.length - minimum
  if (surplus <= 0) return []
  return idleLongestFirst(workers)
    .filter(worker => worker.idleSince + idleTimeoutMs <= now)
    .slice(0, surplus)
}

export interface BusyView extends IdleView {
  /** How many tasks the worker holds. */
  readonly usage: number
}

/** The workers above the maximum: idle workers first, then the workers with the fewest tasks. */
export function chooseSurplus<View extends BusyView>(workers: readonly View[], maximum: number): View[] {
  const surplus = workers.length - maximum
  if (surplus <= 0) return []
  return [...workers]
    .sort((one, other) => one.usage - other.usage || one.idleSince - other.idleSince)
    .slice(0, surplus)
}

/** When the next idle worker may retire; `Infinity` when no worker may. */
export function nextRetirement<View extends IdleView>(
  workers: readonly View[],
  minimum: number,
  idleTimeoutMs: number,
): number {
  if (workers.length <= minimum) return Number.POSITIVE_INFINITY
  const first = idleLongestFirst(workers)[0]
  return first === undefined ? Number.POSITIVE_INFINITY : first.idleSince + idleTimeoutMs
}

function idleLongestFirst<View extends IdleView>(workers: readonly View[]): View[] {
  return workers.filter(worker => worker.isIdle).sort((one, other) => one.idleSince - other.idleSince)
}
