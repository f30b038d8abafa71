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

  /** @param spinCores workers spin while fewer of them than this are awake; 0: never */
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
    this.#onChanged()
  }

  remove(worker: WorkerHandle): void {
    const place = this.workers.indexOf(worker)
    if (place >= 0) this.workers.splice(place, 1)
    this.#onChanged()
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

  /** Workers may spin, and the host poll, while the host and all of those awake have a core each. */
  shareCores(awake: number): void {
    const isAllowed = awake < this.#spinCores
    if (isAllowed === this.mayPoll) return
    this.mayPoll = isAllowed
    for (const worker of this.workers) worker.holding.allowSpin(isAllowed)
  }

  /** Until somebody tells who is awake, all of them are. */
  #onChanged(): void {
    this.#countTakers()
    this.mayPoll = this.workers.length < this.#spinCores
    for (const worker of this.workers) worker.holding.allowSpin(this.mayPoll)
  }
}
