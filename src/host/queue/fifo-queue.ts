// A first-in, first-out queue. The tasks are the nodes of a linked list. Every operation is O(1) and allocates nothing.

import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import type { Task } from '../task/task.js'

const ABSENT = -1
let lastMark = ABSENT

/** First in, first out. The default queue of a pool. */
export class FifoQueue implements TaskQueue {
  readonly capacity = Number.POSITIVE_INFINITY
  /** The `queueIndex` of the tasks in this queue. Each queue has its own mark, below every index of an array. */
  readonly #mark = --lastMark
  #first: Task | null = null
  #last: Task | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @internal The task that was accepted first. */
  get oldest(): QueuedTask | null {
    return this.#first
  }

  push(queued: QueuedTask): void {
    const task = queued as Task
    task.queueIndex = this.#mark
    task.previous = this.#last
    task.next = null
    if (this.#last === null) this.#first = task
    else this.#last.next = task
    this.#last = task
    this.#size++
  }

  shift(): QueuedTask | null {
    const task = this.#first
    if (task !== null) this.remove(task)
    return task
  }

  remove(queued: QueuedTask): void {
    const task = queued as Task
    if (task.queueIndex !== this.#mark) return
    const { previous, next } = task
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    task.previous = null
    task.next = null
    task.queueIndex = ABSENT
    this.#size--
  }
}
