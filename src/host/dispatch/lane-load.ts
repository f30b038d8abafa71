// What is in the lane and with its workers, counted, and held against the slots that there are.

import type { Task } from '../task/task.js'
import type { Crew } from '../workers/crew.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import { LanePlaces } from './lane-places.js'

export class LaneLoad {
  /** Tasks on offer whose payload was sent to a worker still starting. */
  readonly early = new Set<Task>()
  /** Tasks that keep a worker from others for longer than it takes to wake another, as far as is known. */
  readonly long = new Set<Task>()
  readonly #tasks: LaneTasks
  readonly #crew: Crew
  readonly #places: LanePlaces
  readonly #slotsPerWorker: number
  /** Tasks in the lane or with a worker, neither answered nor cancelled. */
  #live = 0
  /** What these take of the slots: one that runs alone takes all of a worker. */
  #weight = 0
  /** How many take all of a worker that others could share. */
  #alone = 0

  constructor(tasks: LaneTasks, crew: Crew, slotsPerWorker: number) {
    this.#tasks = tasks
    this.#crew = crew
    this.#places = new LanePlaces(tasks, crew)
    this.#slotsPerWorker = slotsPerWorker
  }

  get size(): number {
    return this.#live
  }

  /** Tasks for which the workers have no place yet. */
  get ahead(): number {
    if (this.#alone > 0) return this.#places.ahead
    const beyond = this.#weight - this.slots
    return beyond <= 0 ? 0 : Math.min(beyond, this.#live)
  }

  get occupied(): number {
    return Math.min(this.#weight, this.slots)
  }

  /** Below 0 when there is more in the lane than the workers have slots. */
  get freeSlots(): number {
    return this.slots - this.#weight
  }

  get slots(): number {
    const slots = this.#crew.takers * this.#slotsPerWorker
    return this.#crew.hasLeaving ? slots + this.#slotsOfLeaving : slots
  }

  /** A worker has a place for one more; there must be free slots. */
  hasPlaceFor(task: Task): boolean {
    return (this.#alone === 0 && this.#weightOf(task) === 1) || this.#places.hasRoomFor(task)
  }

  add(task: Task): void {
    const weight = this.#weightOf(task)
    this.#live++
    this.#weight += weight
    if (weight > 1) this.#alone++
    if (this.#alone > 0) this.#places.onAdded()
  }

  /** A worker is ready, which was sent the payloads of some. It claims what others were to. */
  onReady(sent: readonly Task[]): void {
    for (const task of sent) this.early.delete(task)
    this.#places.forget()
  }

  /** The task was answered, taken back or lost with its worker. */
  remove(task: Task): void {
    if (this.early.size > 0) this.early.delete(task)
    this.#live--
    this.#free(task)
  }

  /** The task was cancelled and runs on: it keeps its slot, and so its weight. */
  condemn(): void {
    this.#live--
  }

  /** A task that was cancelled runs no more. */
  removeCondemned(task: Task): void {
    this.#free(task)
  }

  #weightOf(task: Task): number {
    return task.isExclusive ? this.#slotsPerWorker : 1
  }

  #free(task: Task): void {
    const weight = this.#weightOf(task)
    if (this.long.size > 0) this.long.delete(task)
    this.#weight -= weight
    if (this.#alone === 0) return
    this.#places.forget()
    if (weight > 1) this.#alone--
  }

  /**
   * A worker that takes no more still has the slots that it fills: until this side has taken in its answers, as with the
   * weight of its tasks, and not as the worker counts them, for that changes in the middle of a turn.
   */
  get #slotsOfLeaving(): number {
    let slots = 0
    for (const worker of this.#crew.workers) {
      if (!worker.isLeaving) continue
      for (const task of this.#tasks.heldBy(worker.id)) slots += this.#weightOf(task)
    }
    return slots
  }
}
