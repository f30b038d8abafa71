// A queue with the highest `priority` first, and first in, first out among equals. The queue is a binary heap. Each
// task knows its index in the heap.

import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import { oldestOf, type Task } from '../task/task.js'

const ABSENT = -1

/** The highest `priority` first. First in, first out among equals. */
export class PriorityQueue implements TaskQueue {
  readonly capacity = Number.POSITIVE_INFINITY
  readonly #heap: Task[] = []
  #arrived = 0

  get size(): number {
    return this.#heap.length
  }

  /** @internal The task that was accepted first. */
  get oldest(): QueuedTask | null {
    return oldestOf(this.#heap)
  }

  push(queued: QueuedTask): void {
    this.pass(queued)
    this.unshift(queued)
  }

  /** @internal The task passes the empty queue: the host posts it at once, and may put it back later. */
  pass(queued: QueuedTask): void {
    const task = queued as Task
    task.queueOrder = this.#arrived++
  }

  unshift(queued: QueuedTask): void {
    const task = queued as Task
    this.#put(task, this.#heap.length)
    this.#rise(task)
  }

  shift(): QueuedTask | null {
    const task = this.#heap[0] ?? null
    if (task !== null) this.remove(task)
    return task
  }

  remove(queued: QueuedTask): void {
    const task = queued as Task
    const place = task.queueIndex
    // The task may be in another queue.
    if (this.#heap[place] !== task) return
    task.queueIndex = ABSENT
    const last = this.#heap.pop()!
    if (last === task) return
    this.#put(last, place)
    this.#rise(last)
    this.#sink(last)
  }

  #put(task: Task, place: number): void {
    this.#heap[place] = task
    task.queueIndex = place
  }

  #rise(task: Task): void {
    while (task.queueIndex > 0) {
      const parent = this.#heap[(task.queueIndex - 1) >> 1]!
      if (!this.#isBefore(task, parent)) return
      this.#exchange(task, parent)
    }
  }

  #sink(task: Task): void {
    for (;;) {
      const left = this.#heap[2 * task.queueIndex + 1]
      const right = this.#heap[2 * task.queueIndex + 2]
      if (left === undefined) return
      const child = right !== undefined && this.#isBefore(right, left) ? right : left
      if (!this.#isBefore(child, task)) return
      this.#exchange(child, task)
    }
  }

  #exchange(one: Task, other: Task): void {
    const place = one.queueIndex
    this.#put(one, other.queueIndex)
    this.#put(other, place)
  }

  #isBefore(one: Task, other: Task): boolean {
    if (one.priority !== other.priority) return one.priority > other.priority
    return one.queueOrder < other.queueOrder
  }
}
