// What a recorder sees of the workers of a pool.
import type { WorkerView } from '../../api/worker-view.js'
import type { ToWorker } from '../../shared/messages/messages.js'

/** A worker, for a recorder. */
export interface ProbedWorker {
  readonly view: WorkerView
  /** Asks a process to profile itself. `onProfile` gets the answer. */
  askForProfile(order: ProfileOrder): void
}

/** `start`: begin a profile. `next`: begin one, and send the one before. `stop`: send the last one. */
export type ProfileOrder = Extract<ToWorker, { kind: 'profile' }>['order']

/** The host calls it while a recorder watches the pool. */
export interface WorkerProbe {
  /** The thread or the process was created. */
  onStarted(worker: ProbedWorker): void
  /** The host is about to ask the worker to stop. It waits for the promise, but at most 500 ms. */
  beforeStop(worker: ProbedWorker): Promise<unknown> | undefined
  onEnded(worker: ProbedWorker): void
  /** A process sends a profile as JSON. `null`: Node could not make it. */
  onProfile(worker: ProbedWorker, profile: string | null): void
}
