// What a thread of the model can do that others may notice. Each is one step of an order.
import type { ToHost, ToWorker } from '../../src/shared/messages/messages.js'
import type { TicketReport } from '../../src/worker/lane/piped-tickets.js'

/** `report`: from a worker that shares no memory with the host. The host moves the ticket on behalf of the worker. */
export type Message =
  | ToHost
  | ToWorker
  | { kind: 'report'; report: TicketReport; ticket: number; taskId: number }

/** What a thread tells the rules, not the others. */
export type Note =
  | { kind: 'started' | 'finished'; task: number }
  | { kind: 'settled'; task: number; outcome: string; value: number }
  | { kind: 'read'; value: number }
  | { kind: 'retired' | 'dismissed' | 'idle' }

/** The host is thread 0, a worker has the id that its group gave it. */
export type Operation =
  | { kind: 'load' | 'read'; cell: number }
  | { kind: 'store' | 'write'; cell: number; value: number }
  | { kind: 'replace'; cell: number; expected: number; value: number }
  | { kind: 'post'; to: number; message: Message }
  | { kind: 'note'; note: Note }
  /** A worker comes to be. */
  | { kind: 'start'; worker: number }
  /** A worker is told to end; it may take some steps more. */
  | { kind: 'kill'; worker: number }
  /** Waits for an event; those of its own come in any order. */
  | { kind: 'next'; own: string[] }
  /** The thread ends by itself. */
  | { kind: 'end' }
  /** Our code threw. */
  | { kind: 'failed'; error: unknown }

export type Event =
  | { kind: 'own'; index: number }
  | { kind: 'message'; from: number; message: Message }
  | { kind: 'exit'; worker: number }

/** Nothing is found by these, so what follows them is known before their turn has come. */
export function findsNothing(operation: Operation): boolean {
  switch (operation.kind) {
    case 'store':
    case 'write':
    case 'post':
    case 'note':
    case 'start':
    case 'kill':
      return true
    default:
      return false
  }
}
