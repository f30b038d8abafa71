// A first-in, first-out queue in a ring that is allocated once. A removed task leaves a hole, which `shift` skips. The
// ring has two places for each task of the capacity. So `push` closes holes at most once in `capacity` calls, and every
// operation is O(1) on average.

import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import { InvalidOptionError, QueueFullError, withCallerFrames } from '../../shared/errors/pool-errors.js'
import type { Task } from '../task/task.js'

const ABSENT = -1
const MOST_PLACES = 2 ** 24

/** First in, first out, in memory that is allocated once. `maxQueue` of the pool is lowered to `capacity`. */
export class FixedQueue implements TaskQueue {
  readonly capacity: number
  readonly #places: (Task | null)[]
  #first = 0
  /** Places from the first to the last task, holes included. */
  #span = 0
  #size = 0

  /**
   * Throws `InvalidOptionError` for a wrong capacity.
   * @param capacity most tasks that the queue can hold, an integer from 1 to 16,777,216
   */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > MOST_PLACES) {
      const shown = typeof capacity === 'string' ? `'${capacity}'` : String(capacity)
      const message = `FixedQueue needs a capacity from 1 to ${MOST_PLACES}, got ${shown}.`
      throw withCallerFrames(new InvalidOptionError('capacity', message), FixedQueue)
    }
    this.capacity = capacity
    this.#places = new Array(2 * capacity).fill(null)
  }

  get size(): number {
    return this.#size
  }

  push(queued: QueuedTask): void {
    if (this.#size === this.capacity) throw withCallerFrames(new QueueFullError(this.capacity), this.push)
    if (this.#span === this.#places.length) this.#closeHoles()
    const task = queued as Task
    task.queueIndex = (this.#first + this.#span) % this.#places.length
    this.#places[task.queueIndex] = task
    this.#span++
    this.#size++
  }

  shift(): QueuedTask | null {
    while (this.#span > 0) {
      const task = this.#places[this.#first] ?? null
      this.#places[this.#first] = null
      this.#first = (this.#first + 1) % this.#places.length
      this.#span--
      if (task === null) continue
      task.queueIndex = ABSENT
      this.#size--
      return task
    }
    return null
  }

  remove(queued: QueuedTask): void {
    const task = queued as Task
    // The task may be in another queue.
    if (this.#places[task.queueIndex] !== task) return
    this.#places[task.queueIndex] = null
    task.queueIndex = ABSENT
    this.#size--
  }

  #closeHoles(): void {
    let filled = 0
    for (let offset = 0; offset < this.#span; offset++) {
      const place = (this.#first + offset) % this.#places.length
      const task = this.#places[place] ?? null
      if (task === null) continue
      this.#places[place] = null
      task.queueIndex = (this.#first + filled++) % this.#places.length
      this.#places[task.queueIndex] = task
    }
    this.#span = filled
  }
}
