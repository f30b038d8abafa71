// Chooses the worker for a task: with the user's load balancer if there is one, otherwise with the default placement.
import type { LoadBalancer } from '../../api/queue.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import type { Task } from '../task/task.js'
import { choosePlacement, hasRoomFor } from './placement.js'
import type { Worker } from './worker.js'
import { View } from './worker-view.js'

/**
 * Returns the worker for the task. Returns `null` when no worker is chosen, or when the chosen worker has no room. A
 * load balancer also sees starting workers. Throws the error of the load balancer, or `InvalidOptionError` when the
 * load balancer returns a value that is not a worker.
 * @param mayStart the task may be sent to a starting worker
 */
export function chooseWorker(
  loadBalancer: LoadBalancer | null,
  task: Task,
  workers: readonly Worker[],
  mayStart: boolean,
): Worker | null {
  const accepting = workers.filter(worker => !worker.isLeaving)
  if (loadBalancer === null) {
    return choosePlacement(task.isExclusive, mayStart ? accepting : accepting.filter(isReady))
  }
  if (accepting.length === 0) return null
  const views = accepting.map(worker => worker.view)
  const ask = () => loadBalancer(task, views)
  const { context } = task.terms
  const view = context === undefined ? ask() : context.run(ask)
  if (view === null || view === undefined) return null
  if (!(view instanceof View)) {
    throw new InvalidOptionError(
      'loadBalancer',
      `The function 'loadBalancer' returned ${Object.prototype.toString.call(view)}. It must synchronously return one of the given workers, or null.`,
    )
  }
  const chosen = accepting.find(worker => worker.view === view)
  if (chosen === undefined || !hasRoomFor(chosen, task.isExclusive)) return null
  return chosen.isReady || mayStart ? chosen : null
}

function isReady(worker: Worker): boolean {
  return worker.isReady
}
