// Asks who is to take a task: the user's balancer where there is one, the scheduler where there is none. Starts a worker
// when nobody has room and one more may live.
import { choosePlacement, hasRoomFor } from '../scheduler/placement.js'
import type { Task } from '../task/task.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { askBalancer } from './ask-balancer.js'
import type { LoadBalancer } from './load-balancer.js'

export class Chooser {
  readonly #supervisor: Supervisor
  readonly #loadBalancer: LoadBalancer | null

  constructor(supervisor: Supervisor, loadBalancer: LoadBalancer | null) {
    this.#supervisor = supervisor
    this.#loadBalancer = loadBalancer
  }

  get isBalanced(): boolean {
    return this.#loadBalancer !== null
  }

  /** False when no task at all could be placed. A balancer is asked in any case: it may count in its own way. */
  get isWorthAsking(): boolean {
    if (this.#loadBalancer !== null) return true
    for (const worker of this.#supervisor.workers) if (hasRoomFor(worker, false)) return true
    return this.#supervisor.maySpawn
  }

  /** A worker with room for the task, or `null`. Throws what the balancer throws, and where it returns something else. */
  choose(task: Task, inFlight: number): WorkerHandle | null {
    const { workers } = this.#supervisor
    if (this.#loadBalancer === null) {
      return choosePlacement(task.isExclusive, workers) ?? this.#supervisor.trySpawn()
    }
    const chosen = askBalancer(this.#loadBalancer, task, workers)
    if (chosen !== null || task.state !== 'queued') return chosen
    if (this.#supervisor.trySpawn() !== null) return askBalancer(this.#loadBalancer, task, workers)
    // A balancer may let a task wait for something to happen. Where nothing will, it is asked for nothing.
    const somethingWillHappen = inFlight > 0 || this.#supervisor.crew.startingCount > 0
    return somethingWillHappen ? null : choosePlacement(task.isExclusive, workers)
  }

  /** A worker with room that is ready. */
  chooseReady(task: Task): WorkerHandle | null {
    return choosePlacement(
      task.isExclusive,
      this.#supervisor.workers.filter(worker => worker.isReady),
    )
  }
}
