// The user's own choice of a worker.

import type { QueuedTask } from '../task/queued-task.js'
import type { WorkerView } from '../workers/worker-view.js'

export type LoadBalancer = (task: QueuedTask, workers: WorkerView[]) => WorkerView | null | undefined
