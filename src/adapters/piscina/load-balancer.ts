// Piscina's view of the workers, and a lido balancer that asks one written for it.
import type { LoadBalancer, WorkerView } from '../../index.js'
import { type PiscinaHistogramSummary, summarize } from './histogram.js'
import { type PiscinaTask, viewOf } from './task-queue.js'

export interface PiscinaWorker {
  /** Node's number of the thread. */
  readonly id: number
  /** Tasks it holds; `Infinity` while it holds one that can be aborted. */
  readonly currentUsage: number
  readonly isRunningAbortableTask: boolean
  /** `null` without `workerHistogram`. */
  readonly histogram: PiscinaHistogramSummary | null
  readonly terminating: boolean
  readonly destroyed: boolean
}

export type PiscinaLoadBalancer = (task: PiscinaTask, workers: PiscinaWorker[]) => PiscinaWorker | null

/** Piscina's view of each worker: the same object whenever the same worker is shown. */
export class WorkerViews {
  readonly #workers = new WeakMap<WorkerView, PiscinaWorker>()

  workerOf(view: WorkerView): PiscinaWorker {
    const known = this.#workers.get(view)
    if (known !== undefined) return known
    const worker: PiscinaWorker = {
      // Kept: the thread has none once it has ended, and programs look up by it whose end they are told of.
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
    // It may be a copy of one that was shown.
    const chosen = balancer(viewOf(task), shown)
    return views.find(view => view.threadId === chosen?.id) ?? null
  }
}
