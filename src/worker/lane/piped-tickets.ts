// The tickets of a worker in another process, which shares no memory with the host. The worker reports each move, and
// the host makes the move.
import type { WorkerTickets } from '../../shared/lane/ticket.js'

export type TicketReport = 'started' | 'loading' | 'loaded'

export class PipedTickets implements WorkerTickets {
  readonly #report: (report: TicketReport, ticket: number, taskId: number) => void
  readonly #cancelled = new Set<number>()

  constructor(report: (report: TicketReport, ticket: number, taskId: number) => void) {
    this.#report = report
  }

  /** Always true, because the host takes no tasks back from a process. */
  startAddressed(ticket: number, _messageNumber: number, taskId: number): boolean {
    this.#report('started', ticket, taskId)
    return true
  }

  /** Nothing to do: the host notes the time when it reads the report. */
  noteStart(): void {}

  markLoading(ticket: number, _workerId: number, isLoading: boolean): void {
    this.#report(isLoading ? 'loading' : 'loaded', ticket, 0)
  }

  /** The output of a process does not wait for the host, so the time of a task never pauses. */
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
