// Counts tasks by their outcome.

import type { TaskCounts } from '../../api/stats.js'
export type Outcome = 'fulfilled' | 'rejected' | 'cancelled'

export class TaskMetrics {
  readonly #counts: TaskCounts = { accepted: 0, completed: 0, fulfilled: 0, rejected: 0, cancelled: 0 }

  onAccepted(): void {
    this.#counts.accepted++
  }

  /** The pool refused a task that it had counted as accepted and as rejected. Removes the task from both counts. */
  onRefused(): void {
    this.#counts.accepted--
    this.#counts.rejected--
  }

  onSettled(outcome: Outcome, wasAssigned: boolean): void {
    if (wasAssigned) this.#counts.completed++
    this.#counts[outcome]++
  }

  get completed(): number {
    return this.#counts.completed
  }

  /** Accepted tasks that are not settled. */
  get pending(): number {
    const { accepted, fulfilled, rejected, cancelled } = this.#counts
    return accepted - fulfilled - rejected - cancelled
  }

  snapshot(): TaskCounts {
    return { ...this.#counts }
  }
}
