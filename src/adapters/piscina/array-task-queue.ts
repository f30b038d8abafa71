// Piscina's simplest queue: an array that programs may look into.
import type { Task, TaskQueue } from './task-queue.js'

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
