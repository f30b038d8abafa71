// What became of the tasks, counted.

export type Outcome = 'fulfilled' | 'rejected' | 'cancelled'

export interface TaskCounts {
  /** Tasks that came in. */
  accepted: number
  /** Tasks that ended after a worker had them, whatever the outcome. */
  completed: number
  fulfilled: number
  rejected: number
  cancelled: number
}

export class Counters {
  readonly #counts: TaskCounts = { accepted: 0, completed: 0, fulfilled: 0, rejected: 0, cancelled: 0 }

  onAccepted(): void {
    this.#counts.accepted++
  }

  /** A task that was rejected because it could not be taken in after all: as if it had never come. */
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

  /** Accepted and not settled. */
  get pending(): number {
    const { accepted, fulfilled, rejected, cancelled } = this.#counts
    return accepted - fulfilled - rejected - cancelled
  }

  snapshot(): TaskCounts {
    return { ...this.#counts }
  }
}
