// Which tasks in the lane the workers have room for, worker by worker: two that are half free have none for a task that runs
// alone, and what stands behind it waits too. Asked only while there is such a task: else it is enough to count slots.
import { choosePlacement, type PlacementView } from '../scheduler/placement.js'
import type { Task } from '../task/task.js'
import type { Crew } from '../workers/crew.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { WorkerHandle } from '../workers/worker-handle.js'

interface Look {
  readonly places: readonly Place[]
  /** Tasks on offer for which no worker has room yet. */
  ahead: number
  /** The look holds while so many are on offer, and the crew is the same. */
  unclaimed: number
  readonly crewChanges: number
}

export class LanePlaces {
  readonly #tasks: LaneTasks
  readonly #crew: Crew
  /** It is asked several times a task, and looks at all tickets. */
  #last: Look | null = null

  constructor(tasks: LaneTasks, crew: Crew) {
    this.#tasks = tasks
    this.#crew = crew
  }

  get ahead(): number {
    const last = this.#last
    if (last?.unclaimed === this.#tasks.lane.unclaimed && last.crewChanges === this.#crew.changes)
      return last.ahead
    this.#last = this.#look()
    return this.#last.ahead
  }

  /** Some worker has room for one more, behind all that is on offer. */
  hasRoomFor(task: Task): boolean {
    if (this.ahead > 0) return false
    const { places, ahead } = this.#look()
    return ahead === 0 && choosePlacement(task.isExclusive, places) !== null
  }

  /** A task more is on offer: behind others that wait it waits too. */
  onAdded(): void {
    if (this.#last === null || this.#last.ahead === 0) return this.forget()
    this.#last.ahead++
    this.#last.unclaimed++
  }

  forget(): void {
    this.#last = null
  }

  #look(): Look {
    const { unclaimed } = this.#tasks.lane
    const { workers, changes: crewChanges } = this.#crew
    const places = workers.map(worker => new Place(worker))
    return { places, ahead: this.#placeAll(places, unclaimed), unclaimed, crewChanges }
  }

  /** Tells how many are left. What is claimed after the first look and before the second counts as claimed. */
  #placeAll(places: readonly Place[], unclaimed: number): number {
    const next = this.#tasks.firstUnclaimed(places.reduce((total, { slots }) => total + slots, 0))
    const claimed = new Set(this.#tasks.claimed())
    for (const task of claimed) {
      const holder = this.#tasks.tickets.holderOf(task.slot)
      if (!this.#isAnsweredInVain(task)) places.find(({ id }) => id === holder)?.add(task)
    }
    let left = unclaimed
    for (const task of next) {
      if (!claimed.has(task)) {
        const place = this.#placeFor(task, places)
        if (place === null) break
        place.add(task)
      }
      left--
    }
    return left
  }

  /** It was cancelled when its answer was under way: that will be passed over. */
  #isAnsweredInVain({ state, slot }: Task): boolean {
    return state === 'settled' && this.#tasks.tickets.phaseOf(slot) === 'answered'
  }

  /** What only one worker may claim was posted because that one had room. */
  #placeFor(task: Task, places: readonly Place[]): Place | null {
    const addressee = this.#tasks.lane.addresseeOf(task.slot)
    if (addressee === 0) return choosePlacement(task.isExclusive, places)
    return places.find(({ id }) => id === addressee) ?? null
  }
}

/** A worker with what it has, and what it will claim. */
class Place implements PlacementView {
  readonly id: number
  readonly slots: number
  readonly isReady: boolean
  readonly isLeaving: boolean
  usage = 0
  isExclusive = false

  constructor({ id, slots, isReady, isLeaving }: WorkerHandle) {
    this.id = id
    this.slots = slots
    this.isReady = isReady
    this.isLeaving = isLeaving
  }

  add(task: Task): void {
    this.usage++
    if (task.isExclusive) this.isExclusive = true
  }
}
