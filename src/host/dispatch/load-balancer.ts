// The user's own choice of a worker.
import type { WorkerView } from '../supervisor/worker-view.js'
import type { QueuedTask } from '../task/queued-task.js'

export type LoadBalancer = (task: QueuedTask, workers: WorkerView[]) => WorkerView | null | undefined
