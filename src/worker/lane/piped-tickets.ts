// The tickets of a worker in another process. It shares no memory with the host, so it reports each move, and the host makes it.
import type { WorkerTickets } from '../../shared/lane/ticket.js'

export type TicketReport = 'started' | 'loading' | 'loaded'

export class PipedTickets implements WorkerTickets {
  readonly #report: (report: TicketReport, ticket: number, taskId: number) => void
  readonly #cancelled = new Set<number>()

  constructor(report: (report: TicketReport, ticket: number, taskId: number) => void) {
    this.#report = report
  }

  /** The host takes nothing back from a process. */
  startAddressed(ticket: number, _offer: number, taskId: number): boolean {
    this.#report('started', ticket, taskId)
    return true
  }

  /** The host notes the time when it reads the report. */
  noteStart(): void {}

  markLoading(ticket: number, _workerId: number, isLoading: boolean): void {
    this.#report(isLoading ? 'loading' : 'loaded', ticket, 0)
  }

  /** What a process prints waits for nobody, so its time is never paused. */
  pauseTime(): number {
    return 0
  }

  resumeTime(): void {}

  noteCancelled(ticket: number): void {
    this.#cancelled.add(ticket)
  }

  isCancelling(ticket: number): boolean {
    return this.#cancelled.has(ticket)
  }

  answer(ticket: number): boolean {
    return !this.#cancelled.has(ticket)
  }

  end(ticket: number): boolean {
    return this.#cancelled.delete(ticket)
  }
}
