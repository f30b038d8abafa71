// Piscina's simplest queue: an array that programs may look into.
import type { PiscinaTask, TaskQueue } from './task-queue.js'

export class ArrayTaskQueue implements TaskQueue {
  readonly tasks: PiscinaTask[] = []

  get size(): number {
    return this.tasks.length
  }

  shift(): PiscinaTask | null {
    return this.tasks.shift() ?? null
  }

  push(task: PiscinaTask): void {
    this.tasks.push(task)
  }

  unshift(task: PiscinaTask): void {
    this.tasks.unshift(task)
  }

  remove(task: PiscinaTask): void {
    const place = this.tasks.indexOf(task)
    if (place >= 0) this.tasks.splice(place, 1)
  }
}
