// The default placement: chooses a worker for a task. Pure functions.

export interface PlacementView {
  readonly isReady: boolean
  /** How many tasks the worker holds. */
  readonly usage: number
  readonly slots: number
  /** The worker holds an exclusive task. */
  readonly isExclusive: boolean
  /** The worker accepts no more tasks. */
  readonly isLeaving: boolean
}

export function hasRoomFor(worker: PlacementView, isExclusive: boolean): boolean {
  if (worker.isExclusive || worker.isLeaving) return false
  return isExclusive ? worker.usage === 0 : worker.usage < worker.slots
}

/**
 * Prefers ready workers to starting ones, then the worker with the fewest tasks, then the first in the list. Returns
 * `null` when no worker has room.
 */
export function choosePlacement<View extends PlacementView>(
  isExclusive: boolean,
  workers: readonly View[],
): View | null {
  let best: View | null = null
  for (const worker of workers) {
    if (!hasRoomFor(worker, isExclusive)) continue
    if (worker.isReady && worker.usage === 0) return worker
    if (best === null || isBetter(worker, best)) best = worker
  }
  return best
}

function isBetter(worker: PlacementView, best: PlacementView): boolean {
  if (worker.isReady !== best.isReady) return worker.isReady
  return worker.usage < best.usage
}
