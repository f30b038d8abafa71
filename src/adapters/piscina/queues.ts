// Piscina's queue classes, for programs that create one. They accept any object and find it by identity.
import type { Task, TaskQueue } from './task-queue.js'

/** Programs read its array `tasks`. */
export class ArrayTaskQueue implements TaskQueue {
  tasks: Task[] = []

  get size(): number {
    return this.tasks.length
  }

  shift(): Task | null {
    return this.tasks.shift() ?? null
  }

  push(task: Task): void {
    this.tasks.push(task)
  }

  unshift(task: Task): void {
    this.tasks.unshift(task)
  }

  remove(task: Task): void {
    const place = this.tasks.indexOf(task)
    if (place >= 0) this.tasks.splice(place, 1)
  }
}

/** First in, first out. Every operation is O(1) on average. */
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
