// Which worker takes a task. Pure: views in, one of them out.

export interface PlacementView {
  readonly isReady: boolean
  /** Tasks it holds. */
  readonly usage: number
  readonly slots: number
  /** It holds a task that must run alone. */
  readonly isExclusive: boolean
  /** It takes no more tasks. */
  readonly isLeaving: boolean
}

export function hasRoomFor(worker: PlacementView, isExclusive: boolean): boolean {
  if (worker.isExclusive || worker.isLeaving) return false
  return isExclusive ? worker.usage === 0 : worker.usage < worker.slots
}

/**
 * The first idle worker that is ready, else the ready one with the fewest tasks, else likewise among those still
 * starting; `null` when no worker has room.
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
