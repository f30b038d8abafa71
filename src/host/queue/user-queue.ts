// Wraps a queue that the user wrote. The wrapper knows which tasks are queued, so it detects a wrong task from the
// queue. It also reports errors of the queue that no caller can receive.

import type { TaskQueue } from '../../api/queue.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { inspect } from '../../shared/platform/node-modules.js'
import { oldestOf, Task } from '../task/task.js'

export class UserQueue implements TaskQueue {
  readonly capacity: number | undefined
  readonly unshift: ((task: Task) => void) | undefined
  readonly #queue: TaskQueue
  readonly #onFailure: (failure: unknown) => void
  readonly #waiting = new Set<Task>()
  /** The user's queue may call the pool from inside a method. A nested call of `shift()` would mix up the tasks. */
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

  /** The task that was accepted first. */
  get oldest(): Task | null {
    return oldestOf(this.#waiting)
  }

  /** Throws the error of the user's queue. Then the task is not queued. */
  push(task: Task): void {
    this.#insert(task, () => this.#queue.push(task))
  }

  /** Returns `null` when the user's queue returns no task. */
  shift(): Task | null {
    if (this.#isCalling) return null
    // The user's queue may still return cancelled tasks. Skip them.
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

  /** Removes all tasks, also tasks that `shift()` of the user's queue would not return. */
  *drain(): Generator<Task> {
    for (const task of this.#waiting) {
      this.remove(task)
      yield task
    }
  }

  #insert(task: Task, insert: () => void): void {
    // Added first: during the call, the user's queue may cancel the task or make the pool take it.
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

  /** Reports an error of the user's queue, and returns `undefined`. */
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
  const shown = given instanceof Task ? 'a task that is not queued' : inspect(given, { depth: 0 })
  return new InvalidOptionError(
    'queue',
    `The option 'queue': shift() must take out and return a task that push() received. It returned ${shown}.`,
  )
}
