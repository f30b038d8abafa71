// One road from a task to a worker: posted on the worker's channel, owned by whoever exchanges the slot's word first.
// Nothing but this file and the worker's executor knows how a task travels.
import type { Clock } from '../../shared/base/clock.js'
import { announcePost, offer, takeBack, wasLoading } from '../../shared/channel/claims.js'
import type { WorkerHandle } from '../supervisor/worker-handle.js'
import type { Task } from '../task/task.js'

export class PortRoad {
  readonly #clock: Clock
  #inFlight = 0
  /** Tasks posted to workers that are not ready yet, in order. Any ready worker with room takes them over. */
  readonly #early = new Set<Task>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Tasks that workers hold. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The first of the tasks that wait in a worker still starting. */
  get oldestEarly(): Task | null {
    for (const task of this.#early) return task
    return null
  }

  /** What is posted to a worker still starting must stay here too, since another may be ready first. */
  canTravel(task: Task, worker: WorkerHandle): boolean {
    return worker.isReady || task.canBePostedAgain
  }

  /** Posts the task into a slot of the worker. Throws what the channel throws; then the worker holds nothing. */
  give(worker: WorkerHandle, task: Task): void {
    worker.assign(task)
    this.#inFlight++
    task.assignedAt = this.#clock.now()
    task.ordinal = ++worker.posted
    offer(worker.claims, task.slot, task.id)
    const handler = worker.knows(task.handlerId) ? null : { filename: task.filename, name: task.name }
    const { id: taskId, slot, handlerId, payload, transferList } = task
    try {
      worker.link!.post({ kind: 'run', taskId, slot, handlerId, handler, payload }, transferList)
    } catch (failure) {
      worker.posted--
      this.release(task)
      throw failure
    }
    announcePost(worker.claims, worker.posted)
    if (!worker.isReady) this.#early.add(task)
  }

  /** Frees the task's slot; what is to become of the task is the caller's. */
  release(task: Task): void {
    this.#early.delete(task)
    this.#inFlight--
    task.holder!.release(task, this.#clock.now())
  }

  /** Frees the slot, and tells whether the worker had not begun the task and never will. */
  takeBack(task: Task): boolean {
    const worker = task.holder as WorkerHandle
    const isOurs = takeBack(worker.claims, task.slot, task.id)
    this.release(task)
    return isOurs
  }

  /** For a worker that is no more: frees the slot and tells how far the worker had come with the task. */
  progressOf(task: Task): { wasBegun: boolean; wasLoading: boolean } {
    const { claims } = task.holder as WorkerHandle
    const isLoading = wasLoading(claims, task.slot)
    const wasBegun = !this.takeBack(task)
    return { wasBegun, wasLoading: wasBegun && isLoading }
  }

  /** Like `takeBack`, but leaves the task where it is when the worker has begun it. */
  takeOver(task: Task): boolean {
    const worker = task.holder as WorkerHandle
    this.#early.delete(task)
    if (!takeBack(worker.claims, task.slot, task.id)) return false
    this.release(task)
    return true
  }

  /** The worker begins what it was given; what it ran until now was its start. */
  onReady(worker: WorkerHandle): void {
    for (const task of worker.tasks()) {
      this.#early.delete(task)
      task.assignedAt = this.#clock.now()
    }
  }
}
