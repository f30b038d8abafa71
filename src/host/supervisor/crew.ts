// The workers that are alive, and what follows from their number: how many take tasks, and whether there are cores to spare.
import type { WorkerHandle } from './worker-handle.js'

export class Crew {
  /** Spawning or ready, oldest first. */
  readonly workers: WorkerHandle[] = []
  /** Workers that take tasks, or will when they have started. */
  takers = 0
  /** Some workers take no more tasks and still hold some. */
  hasLeaving = false
  /** How often a worker came, went, or was to leave. */
  changes = 0
  /** There is a core for the host to look out for answers. */
  mayPoll = false
  readonly #spinCores: number

  /** @param spinCores workers spin while there are fewer of them than this; 0: never */
  constructor(spinCores: number) {
    this.#spinCores = spinCores
  }

  get isEmpty(): boolean {
    return this.workers.length === 0
  }

  get startingCount(): number {
    let count = 0
    for (const worker of this.workers) if (worker.state === 'spawning') count++
    return count
  }

  /** Those that are not to leave. */
  get staying(): WorkerHandle[] {
    return this.workers.filter(worker => !worker.isLeaving)
  }

  /** Of those, the ones that have started. */
  get serving(): WorkerHandle[] {
    return this.workers.filter(worker => worker.isReady && !worker.isLeaving)
  }

  withId(id: number): WorkerHandle | null {
    return this.workers.find(worker => worker.id === id) ?? null
  }

  add(worker: WorkerHandle): void {
    this.workers.push(worker)
    this.#shareCores()
  }

  remove(worker: WorkerHandle): void {
    const place = this.workers.indexOf(worker)
    if (place >= 0) this.workers.splice(place, 1)
    this.#shareCores()
  }

  /** The worker takes no more tasks. */
  letLeave(worker: WorkerHandle): void {
    worker.isLeaving = true
    this.#countTakers()
  }

  #countTakers(): void {
    this.changes++
    this.takers = this.staying.length
    this.hasLeaving = this.takers < this.workers.length
  }

  /** Workers may spin, and the host poll, while the host and all of them have a core each. */
  #shareCores(): void {
    this.#countTakers()
    const isAllowed = this.workers.length < this.#spinCores
    for (const worker of this.workers) worker.holding.allowSpin(isAllowed)
    this.mayPoll = isAllowed
  }
}
