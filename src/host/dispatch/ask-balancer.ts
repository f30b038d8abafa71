// The user's own choice of a worker: which it is shown, and what it may return.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { hasRoomFor } from '../scheduler/placement.js'
import type { Task } from '../task/task.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { WorkerView } from '../workers/worker-view.js'
import type { LoadBalancer } from './load-balancer.js'

/** `null` where it chooses nobody, or one without room. Throws what the balancer throws, and where it returns something else. */
export function askBalancer(
  loadBalancer: LoadBalancer,
  task: Task,
  workers: readonly WorkerHandle[],
): WorkerHandle | null {
  const takers = workers.filter(worker => !worker.isLeaving)
  if (takers.length === 0) return null
  const view = loadBalancer(
    task,
    takers.map(worker => worker.view),
  )
  if (view === null || view === undefined) return null
  if (!(view instanceof WorkerView)) {
    throw new InvalidOptionError(
      'loadBalancer',
      `The option 'loadBalancer' must return, at once, one of the workers it is shown, or null; got ${Object.prototype.toString.call(view)}.`,
    )
  }
  const chosen = workers.find(worker => worker.view === view)
  return chosen !== undefined && hasRoomFor(chosen, task.isExclusive) ? chosen : null
}
