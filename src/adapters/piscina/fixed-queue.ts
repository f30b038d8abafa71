// Piscina's queues, for programs that create one of their own. Both take any object and find it again by identity.
import type { Task, TaskQueue } from './task-queue.js'

/** First in, first out, with places in both directions. Every operation is O(1) on average. */
export class FixedQueue implements TaskQueue {
  readonly #tasks = new Map<number, Task>()
  readonly #places = new Map<Task, number>()
  #first = 0
  #next = 0

  get size(): number {
    return this.#tasks.size
  }

  isEmpty(): boolean {
    return this.size === 0
  }

  push(task: Task): void {
    this.#put(this.#next++, task)
  }

  unshift(task: Task): void {
    this.#put(--this.#first, task)
  }

  shift(): Task | null {
    while (this.#first < this.#next) {
      const place = this.#first++
      const task = this.#tasks.get(place)
      if (task === undefined) continue
      this.#tasks.delete(place)
      this.#places.delete(task)
      return task
    }
    return null
  }

  remove(task: Task): void {
    const place = this.#places.get(task)
    if (place === undefined) return
    this.#places.delete(task)
    this.#tasks.delete(place)
  }

  #put(place: number, task: Task): void {
    this.#tasks.set(place, task)
    this.#places.set(task, place)
  }
}
