// Stands between the pool and a queue that the user wrote. It knows which tasks wait, so it recognises a wrong answer of the
// queue. It reports errors that the queue throws where no caller could receive them.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { inspect } from '../../shared/platform/node-modules.js'
import { Task } from '../task/task.js'
import type { TaskQueue } from './task-queue.js'

export class UserQueue implements TaskQueue {
  readonly capacity: number | undefined
  readonly unshift: ((task: Task) => void) | undefined
  readonly #queue: TaskQueue
  readonly #onFailure: (failure: unknown) => void
  readonly #waiting = new Set<Task>()
  /** The queue may look at its pool while the pool calls it. A second call of `shift()` would mix up the tasks. */
  #isCalling = false

  constructor(queue: TaskQueue, onFailure: (failure: unknown) => void) {
    this.#queue = queue
    this.#onFailure = onFailure
    this.capacity = queue.capacity
    this.unshift =
      queue.unshift === undefined ? undefined : task => this.#insert(task, () => queue.unshift!(task))
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Throws the error of the queue. Then the task does not wait. */
  push(task: Task): void {
    this.#insert(task, () => this.#queue.push(task))
  }

  /** Returns `null` when the queue gives no task now. */
  shift(): Task | null {
    if (this.#isCalling) return null
    // A queue may keep cancelled tasks. They are skipped.
    for (let left = this.#queue.size; left > 0 && this.#waiting.size > 0; left--) {
      const given = this.#call(() => this.#queue.shift()) ?? null
      if (given === null) return null
      if (this.#waiting.delete(given as Task)) return given as Task
      if (given instanceof Task && left > 1) continue
      this.#onFailure(wrongTask(given))
      return null
    }
    return null
  }

  remove(task: Task): void {
    if (this.#waiting.delete(task)) this.#call(() => this.#queue.remove(task))
  }

  /** Takes out all tasks, also those that `shift()` of the queue would not return. */
  *drain(): Generator<Task> {
    for (const task of this.#waiting) {
      this.remove(task)
      yield task
    }
  }

  #insert(task: Task, insert: () => void): void {
    // Added first: the queue may cancel the task, or call the pool, which takes it.
    this.#waiting.add(task)
    const wasCalling = this.#isCalling
    this.#isCalling = true
    try {
      insert()
    } catch (failure) {
      this.#waiting.delete(task)
      throw failure
    } finally {
      this.#isCalling = wasCalling
    }
  }

  /** Returns `undefined` when the queue throws. */
  #call<T>(call: () => T): T | undefined {
    const wasCalling = this.#isCalling
    this.#isCalling = true
    try {
      return call()
    } catch (failure) {
      this.#onFailure(failure)
      return undefined
    } finally {
      this.#isCalling = wasCalling
    }
  }
}

function wrongTask(given: unknown): InvalidOptionError {
  const shown = given instanceof Task ? 'a task that does not wait' : inspect(given, { depth: 0 })
  return new InvalidOptionError(
    'queue',
    `The option 'queue': shift() must take out and return a task that push() received. It returned ${shown}.`,
  )
}
