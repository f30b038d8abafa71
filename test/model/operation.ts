// The operations of a thread that other threads may notice. Each operation is a step of an order.
import type { ToHost, ToWorker } from '../../src/shared/messages/messages.js'
import type { TicketReport } from '../../src/worker/lane/piped-tickets.js'

/** `report`: from a worker that shares no memory with the host. The host moves the ticket on behalf of the worker. */
export type Message =
  | ToHost
  | ToWorker
  | { kind: 'report'; report: TicketReport; ticket: number; taskId: number }

/** A note from a thread to the rules. Other threads do not see it. */
export type Note =
  | { kind: 'started' | 'finished'; task: number }
  | { kind: 'settled'; task: number; outcome: string; value: number }
  | { kind: 'read'; value: number }
  | { kind: 'retired' | 'dismissed' | 'idle' }

/** The host is thread 0. The number of a worker is the id that its group assigned. */
export type Operation =
  | { kind: 'load' | 'read'; cell: number }
  | { kind: 'store' | 'write'; cell: number; value: number }
  | { kind: 'replace'; cell: number; expected: number; value: number }
  | { kind: 'post'; to: number; message: Message }
  | { kind: 'note'; note: Note }
  /** Creates a worker. */
  | { kind: 'start'; worker: number }
  /** Kills a worker, which may still take some steps. */
  | { kind: 'kill'; worker: number }
  /** Waits for an event. The thread's own events come in any order. */
  | { kind: 'next'; own: string[] }
  /** The thread exits by itself. */
  | { kind: 'end' }
  /** The code under test threw. */
  | { kind: 'failed'; error: unknown }

export type Event =
  | { kind: 'own'; index: number }
  | { kind: 'message'; from: number; message: Message }
  | { kind: 'exit'; worker: number }

/** The operation returns no value, so the operation after it is known in advance. */
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
