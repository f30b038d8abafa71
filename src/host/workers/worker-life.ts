// The life of a worker as a table, and the one function that moves it.
import { invariant } from '../../shared/platform/invariant.js'

export type WorkerState = 'spawning' | 'ready' | 'draining' | 'exited'

export const workerMoves = {
  /** draining: told to end before it was ready */
  spawning: ['ready', 'draining', 'exited'],
  ready: ['draining', 'exited'],
  /** takes no task; its end was asked for */
  draining: ['exited'],
  exited: [],
} as const satisfies Record<WorkerState, readonly WorkerState[]>

export function moveWorker(worker: { state: WorkerState }, next: WorkerState): void {
  const legal: readonly WorkerState[] = workerMoves[worker.state]
  invariant(
    legal.includes(next),
    `a worker moves from ${worker.state} to one of [${legal.join(', ')}], not to ${next}`,
  )
  worker.state = next
}
