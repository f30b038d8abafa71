// Which worker is sure to claim a ticket that is posted now, so that its payload can be sent along.
import { choosePlacement, type PlacementView } from '../scheduler/placement.js'
import type { Task } from '../task/task.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'

/**
 * A worker with room, while everything on offer is meant for one worker or another, so that none can take anything else
 * before; `null` when that is not so. What cannot be sent twice waits for a worker that is ready.
 */
export function soleTaker(task: Task, tasks: LaneTasks, supervisor: Supervisor): WorkerHandle | null {
  const { lane } = tasks
  if (tasks.unclaimed().some(({ slot }) => lane.addresseeOf(slot) === 0)) return null
  const workers = supervisor.workers.filter(worker => worker.isReady || task.canBePostedAgain)
  const views = workers.map(worker => new AddressView(worker, tasks.meantFor(worker.id)))
  const chosen = choosePlacement(task.isExclusive, views)
  if (chosen !== null) return chosen.worker
  return task.canBePostedAgain ? supervisor.trySpawn() : null
}

/** A worker with what it holds and what is on offer for it alone. */
class AddressView implements PlacementView {
  readonly worker: WorkerHandle
  readonly usage: number
  readonly isExclusive: boolean

  constructor(worker: WorkerHandle, tasks: Task[]) {
    this.worker = worker
    this.usage = tasks.length
    this.isExclusive = worker.slots > 1 && tasks.some(task => task.isExclusive)
  }

  get isReady(): boolean {
    return this.worker.isReady
  }

  get slots(): number {
    return this.worker.slots
  }

  get isLeaving(): boolean {
    return this.worker.isLeaving
  }
}
