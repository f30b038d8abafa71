// The tasks that wait, in the order in which they are to start: first those that came back from a worker, then the one
// taken from the queue and not yet placed, then the queue itself, whoever wrote it.

import { FifoQueue } from '../queue/fifo-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { Task } from '../task/task.js'

export class WaitingLine {
  readonly #queue: TaskQueue
  readonly #returned = new FifoQueue()
  /** Taken from the queue, since a queue cannot be looked into without taking. */
  #head: Task | null = null
  /** What a queue of the user's own holds: it may give out nothing, and its tasks are answered all the same. */
  readonly #held: Set<Task> | null

  constructor(queue: TaskQueue) {
    this.#queue = queue
    this.#held = queue.constructor === FifoQueue ? null : new Set()
  }

  get size(): number {
    return this.#queue.size + this.#returned.size + (this.#head === null ? 0 : 1)
  }

  push(task: Task): void {
    this.#queue.push(task)
    this.#held?.add(task)
  }

  /** A task comes back to where it stood: before all that have not been placed yet. */
  putBack(task: Task): void {
    this.#returned.push(task)
  }

  /** The task that is to start next; it stays until `take`. */
  peek(): Task | null {
    const returned = this.#returned.peek()
    if (returned !== null) return returned
    while (this.#head === null && this.#queue.size > 0) {
      const task = (this.#queue.shift() ?? null) as Task | null
      if (task === null) return null
      this.#held?.delete(task)
      // A queue that keeps what it was told to remove must not bring a settled task back to life.
      if (task.state === 'queued') this.#head = task
    }
    return this.#head
  }

  /** Takes out the task that `peek` gave. */
  take(task: Task): void {
    if (task === this.#head) this.#head = null
    else this.#returned.remove(task)
  }

  remove(task: Task): void {
    if (task === this.#head) this.#head = null
    else if (task.returns > 0) this.#returned.remove(task)
    else {
      this.#held?.delete(task)
      this.#queue.remove(task)
    }
  }

  /** Empties the line. */
  *drain(): Generator<Task> {
    for (;;) {
      const task = this.peek()
      if (task === null) break
      this.take(task)
      yield task
    }
    for (const task of this.#held ?? []) {
      this.remove(task)
      yield task
    }
  }
}
