// Chooses the worker that is sent a task: the user's load balancer when there is one, else the default placement.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import type { QueuedTask } from '../task/queued-task.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import { WorkerView } from '../workers/worker-view.js'
import { choosePlacement, hasRoomFor } from './placement.js'

/** Called synchronously with the workers that accept tasks. Returns one of them, or `null` to keep the task queued. */
export type LoadBalancer = (task: QueuedTask, workers: WorkerView[]) => WorkerView | null | undefined

/**
 * The worker that is to be sent the task; `null` when none is chosen or the chosen one has no room. A load balancer also sees
 * workers that are starting. Throws what the load balancer throws, and `InvalidOptionError` when it returns something else than a
 * worker.
 * @param mayStart a task may be sent to a worker that is starting
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
  const view = loadBalancer(
    task,
    accepting.map(worker => worker.view),
  )
  if (view === null || view === undefined) return null
  if (!(view instanceof WorkerView)) {
    throw new InvalidOptionError(
      'loadBalancer',
      `The option 'loadBalancer' must return one of the workers it is given, or null, synchronously; got ${Object.prototype.toString.call(view)}.`,
    )
  }
  const chosen = accepting.find(worker => worker.view === view)
  if (chosen === undefined || !hasRoomFor(chosen, task.isExclusive)) return null
  return chosen.isReady || mayStart ? chosen : null
}

function isReady(worker: Worker): boolean {
  return worker.isReady
}
