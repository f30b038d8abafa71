// The only place a caller's promise is settled.
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { Outcome } from '../metrics/counters.js'
import { Refusal } from './refusal.js'
import type { Task } from './task.js'
import { moveTask } from './task-life.js'

export interface SettleListener {
  onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void
}

export class Settler {
  /** Tasks that did not get to finish because the pool ends. */
  cutOffCount = 0
  readonly #listener: SettleListener

  constructor(listener: SettleListener) {
    this.#listener = listener
  }

  fulfil(task: Task, result: unknown): void {
    this.#settle(task, 'fulfilled', result)
  }

  reject(task: Task, reason: unknown): void {
    this.#settle(task, 'rejected', reason)
  }

  /** The pool ends. */
  cutOff(task: Task, error: PoolError): void {
    this.cutOffCount++
    this.#settle(task, 'rejected', error)
  }

  cancel(task: Task, reason: unknown): void {
    this.#settle(task, 'cancelled', reason)
  }

  /** The caller is answered whatever the listener meets. */
  #settle(task: Task, outcome: Outcome, answer: unknown): void {
    const wasAssigned = task.state !== 'queued' || task.retry?.hasRun === true
    moveTask(task, 'settled')
    try {
      this.#listener.onSettled(task, outcome, wasAssigned)
    } finally {
      task.resolve(outcome === 'fulfilled' ? answer : new Refusal(answer))
    }
  }
}
