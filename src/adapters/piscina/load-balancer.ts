// Piscina's view of the workers, and the conversion of a Piscina load balancer to a lido load balancer.
import type { LoadBalancer, WorkerView } from '../../index.js'
import { type PiscinaHistogramSummary, summarize } from './histogram.js'
import { type PiscinaTask, viewOf } from './task-queue.js'

/** A worker, as a load balancer sees it. */
export interface PiscinaWorker {
  /** The thread id. */
  readonly id: number
  /** The number of tasks that the worker has; `Infinity` while it has a task that can be aborted. */
  readonly currentUsage: number
  readonly isRunningAbortableTask: boolean
  /** `null` without `workerHistogram`. */
  readonly histogram: PiscinaHistogramSummary | null
  readonly terminating: boolean
  readonly destroyed: boolean
}

/** Chooses the worker of a task. `null` leaves the task in the queue. */
export type PiscinaLoadBalancer = (task: PiscinaTask, workers: PiscinaWorker[]) => PiscinaWorker | null

/** Piscina's view of each worker. One worker always has the same view. */
export class WorkerViews {
  readonly #workers = new WeakMap<WorkerView, PiscinaWorker>()

  workerOf(view: WorkerView): PiscinaWorker {
    const known = this.#workers.get(view)
    if (known !== undefined) return known
    const worker: PiscinaWorker = {
      // Copied, because a thread has no id after its exit, and programs identify an exited worker by its id.
      id: view.threadId,
      get currentUsage() {
        return view.isExclusive ? Number.POSITIVE_INFINITY : view.usage
      },
      get isRunningAbortableTask() {
        return view.isExclusive
      },
      get histogram() {
        return view.histogram === null ? null : summarize(view.histogram)
      },
      terminating: false,
      get destroyed() {
        return view.state === 'draining' || view.state === 'exited'
      },
    }
    this.#workers.set(view, worker)
    return worker
  }
}

export function adaptBalancer(balancer: PiscinaLoadBalancer, workers: WorkerViews): LoadBalancer {
  return (task, views) => {
    const shown = views.map(view => workers.workerOf(view))
    // A balancer may return a copy of a view, so compare ids.
    const chosen = balancer(viewOf(task), shown)
    return views.find(view => view.threadId === chosen?.id) ?? null
  }
}
