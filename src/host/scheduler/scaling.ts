// How many workers there should be. Pure.

/** How many workers a pool may have. `pool.resize()` changes it. */
export interface PoolSize {
  /** Workers kept alive. */
  minWorkers: number
  /** Most workers alive at once. */
  maxWorkers: number
}

export interface IdleView {
  readonly isIdle: boolean
  /** When it last became idle, in ms of the pool's clock. */
  readonly idleSince: number
}

/** The idle workers whose time is over, longest idle first, at most as many as stand above the minimum. */
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
  /** Tasks that the worker holds. */
  readonly usage: number
}

/** The workers above the maximum that are to leave: idle workers first, then those with the fewest tasks. */
export function chooseSurplus<View extends BusyView>(workers: readonly View[], maximum: number): View[] {
  const surplus = workers.length - maximum
  if (surplus <= 0) return []
  return [...workers]
    .sort((one, other) => one.usage - other.usage || one.idleSince - other.idleSince)
    .slice(0, surplus)
}

/** When the next idle worker's time is over; `Infinity` when there is none to retire. */
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
