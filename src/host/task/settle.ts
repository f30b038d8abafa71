// The only place a caller's promise is settled.
import type { Outcome, Task } from './task.js'
import { moveTask } from './task-life.js'

export interface SettleListener {
  onSettled(task: Task, wasAssigned: boolean): void
}

export class Settler {
  readonly #listener: SettleListener

  constructor(listener: SettleListener) {
    this.#listener = listener
  }

  fulfil(task: Task, result: unknown): void {
    this.#settle(task, 'fulfilled', () => task.resolve(result))
  }

  reject(task: Task, reason: unknown): void {
    this.#settle(task, 'rejected', () => task.reject(reason))
  }

  cancel(task: Task, reason: unknown): void {
    this.#settle(task, 'cancelled', () => task.reject(reason))
  }

  /** The caller is answered whatever the listener meets, which deals with a signal of the user's. */
  #settle(task: Task, outcome: Outcome, answer: () => void): void {
    const wasAssigned = task.state !== 'queued'
    moveTask(task, 'settled')
    task.outcome = outcome
    try {
      this.#listener.onSettled(task, wasAssigned)
    } finally {
      answer()
    }
  }
}
