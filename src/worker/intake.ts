// How tasks come into this worker. A kind of it takes them in and hands them to the executor, one assignment each.
import type { ToWorker } from '../shared/messages/messages.js'

/** Under steady load the worker's own event loop turns at least so often, or after a task that took longer. */
export const YIELD_MS = 1

export type RunMessage = Extract<ToWorker, { kind: 'run' }>

export interface Intake {
  /** The worker is ready: what came before, and all that comes, is begun. */
  open(): void
  onMessage(message: ToWorker): void
  /** A message came that could not be read. */
  onUnreadable(): void
  /** The worker is to be replaced: it finishes what it has, and takes what was given away to it. */
  leave(): void
  /** It has nothing more that it could do. */
  stopTaking(): void
}
